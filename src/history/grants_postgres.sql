-- The rights of the roles on the tables. The program does this, too, when it creates or updates them.
DO $$
DECLARE
    secret text;
BEGIN
    IF to_regclass('switchtender.schema_version') IS NULL OR NOT EXISTS (
        SELECT 1 FROM pg_namespace JOIN pg_roles ON pg_roles.oid = nspowner
        WHERE nspname = 'switchtender' AND rolname = 'switchtender_owner')
    THEN
        RETURN;
    END IF;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA switchtender TO switchtender_process;
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA switchtender TO switchtender_process;
    REVOKE INSERT, UPDATE, DELETE ON switchtender.schema_version FROM switchtender_process;
    GRANT SELECT ON ALL TABLES IN SCHEMA switchtender TO switchtender_reader;
    -- Logins, the sealed state of devices, and the files of releases.
    FOREACH secret IN ARRAY ARRAY['access_key', 'blob', 'browser_session', 'device_state', 'live_event',
        'once_secret', 'state_key']
    LOOP
        IF to_regclass('switchtender.' || secret) IS NOT NULL THEN
            EXECUTE format('REVOKE ALL ON switchtender.%I FROM switchtender_reader', secret);
        END IF;
    END LOOP;
END $$;
