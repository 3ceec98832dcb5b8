-- The desired state that the device is managed with: where its last applied or scheduled catalog came from.
ALTER TABLE device ADD COLUMN catalog_origin TEXT;
-- What changed: the device, or its desired state.
ALTER TABLE drift ADD COLUMN cause TEXT NOT NULL DEFAULT 'desired state';
