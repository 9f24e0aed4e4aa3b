/**
 * Work that waits in tables until a job does it, by the label of its metrics. Each statement returns the number of items, and the age of the
 * oldest in seconds or null. It must be quick: each scrape runs it. SQL: figures.
 */
export const BACKLOGS = {
  unused_uploads: 'select count(*), extract(epoch from now() - min(created_at)) from upload where consumed_at is null',
  list_counters: `select count(*) - count(distinct (list, builder_id, project_id, parent_id, kind)), null from list_total`,
  unnumbered_events: `select count(*), extract(epoch from clock_timestamp() - min(occurred_at)) from event_pending`,
  webhook_deliveries: `select count(*), extract(epoch from clock_timestamp() - min(created_at)) from webhook_delivery where status = 'PENDING'`,
  photo_renditions: `select count(*), extract(epoch from now() - min(created_at)) from photo_rendition where status = 'PENDING'`,
  snapshots: `select count(*), extract(epoch from now() - min(created_at)) from snapshot where status in ('PENDING', 'RUNNING')`,
};
