-- The view host_activity; no table changes.
SELECT 1;
