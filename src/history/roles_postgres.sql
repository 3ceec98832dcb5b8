-- The roles of a store of Switchtender, for PostgreSQL. A superuser runs this in the database of the store, also again:
--   switchtender store setup | psql --dbname=switchtender
-- Then set the passwords: \password switchtender_owner, and so on.
--   switchtender_owner    owns the tables: creates them, updates them, `store copy` into the database, `store vacuum`
--   switchtender_process  reads and writes rows: `switchtender serve`, and runs with --store
--   switchtender_reader   reads rows, without secrets: reports, dashboards, `switchtender history`
\set ON_ERROR_STOP on
BEGIN;

DO $$
DECLARE
    new_role text;
BEGIN
    FOREACH new_role IN ARRAY ARRAY['switchtender_owner', 'switchtender_process', 'switchtender_reader']
    LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = new_role) THEN
            EXECUTE format('CREATE ROLE %I LOGIN', new_role);
        END IF;
        EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %I', current_database(), new_role);
    END LOOP;
END $$;

CREATE SCHEMA IF NOT EXISTS switchtender AUTHORIZATION switchtender_owner;
REVOKE ALL ON SCHEMA switchtender FROM PUBLIC;
GRANT USAGE ON SCHEMA switchtender TO switchtender_process, switchtender_reader;

-- A store that another role has created gets the new owner.
DO $$
DECLARE
    statement text;
BEGIN
    ALTER SCHEMA switchtender OWNER TO switchtender_owner;
    FOR statement IN
        SELECT format('ALTER TABLE switchtender.%I OWNER TO switchtender_owner', relname)
        FROM pg_class
        WHERE relnamespace = 'switchtender'::regnamespace AND relkind = 'r'
        UNION ALL
        SELECT format('ALTER SEQUENCE switchtender.%I OWNER TO switchtender_owner', relname)
        FROM pg_class
        WHERE relnamespace = 'switchtender'::regnamespace AND relkind = 'S'
            AND NOT EXISTS (SELECT 1 FROM pg_depend
                WHERE objid = pg_class.oid AND refobjsubid > 0 AND deptype IN ('a', 'i'))
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO switchtender_owner', oid::regprocedure)
        FROM pg_proc WHERE pronamespace = 'switchtender'::regnamespace
        UNION ALL
        SELECT format('ALTER COLLATION switchtender.%I OWNER TO switchtender_owner', collname)
        FROM pg_collation WHERE collnamespace = 'switchtender'::regnamespace
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;

