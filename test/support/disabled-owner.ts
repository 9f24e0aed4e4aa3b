/** SQL that makes a disabled client of the same integrator the one that created all webhook endpoints. */
export const GIVE_ENDPOINTS_TO_DISABLED_CLIENT = `with disabled as (
    insert into oauth_client select (jsonb_populate_record(client, '{"id":"cli_disabled","disabled_at":"2026-01-01T00:00:00Z"}')).*
      from oauth_client client where id in (select client_id from webhook_endpoint limit 1)
      on conflict (id) do nothing)
  update webhook_endpoint set client_id = 'cli_disabled'`;
