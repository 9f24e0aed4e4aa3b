import { eventTypes } from '../../events/event-types.ts';

/** Endpoints that are delivered to, as the end of a statement's `from` and the beginning of its `where`. */
export const FROM_ACTIVE_ENDPOINTS = `webhook_endpoint endpoint join oauth_client client on client.id = endpoint.client_id
    join webhook_progress progress on progress.endpoint_id = endpoint.id
  where endpoint.status = 'ACTIVE' and endpoint.deleted_at is null and client.disabled_at is null and 'client_credentials' = any(client.grants)`;

/** Parameter of `maySee` and `isVisible`: JSON of the scope of each type of event. */
export const TYPE_SCOPES = JSON.stringify(Object.fromEntries(eventTypes));

/** Names in a statement of what `maySee` and `isVisible` compare. */
interface EventSource {
  /** Table with builder, type and number of the event. */
  event: string;
  /** Column with the scopes of the client of the table `endpoint`. */
  clientScopes: string;
  /** Parameter with `TYPE_SCOPES`. */
  typeScopes: string;
}

/** Returns the condition that the client of an endpoint may see an event now. */
export const maySee = ({ event, clientScopes, typeScopes }: EventSource, condition = '') => `(
  array[${typeScopes}::jsonb ->> ${event}.type] <@ ${clientScopes}
  and exists (select from connection where connection.integrator_id = endpoint.integrator_id
    and connection.builder_id = ${event}.builder_id and connection.status = 'ACTIVE'
    and array[${typeScopes}::jsonb ->> ${event}.type] <@ connection.scopes ${condition}))`;

/** Returns the condition that an endpoint receives an event: of those it selects, none of the time before the builder was connected (WHK-7). */
export const isVisible = (source: EventSource) => `(
  (endpoint.types is null or ${source.event}.type = any(endpoint.types))
  and (endpoint.builder_ids is null or ${source.event}.builder_id = any(endpoint.builder_ids))
  and ${maySee(source, `and ${source.event}.number > coalesce(connection.active_after, 0)`)})`;

/**
 * Returns the condition that a configured key decrypts each secret that signs now.
 *
 * @param keys Parameter with the ids of the keys: see `SecretBox`.
 */
export const isReadable = (keys: string, now: string) => `(split_part(endpoint.secret, '.', 2) = any(${keys}::text[])
  and not exists (select from jsonb_array_elements(endpoint.previous_secrets) previous
    where (previous ->> 'until')::timestamptz > ${now}::timestamptz
      and split_part(previous ->> 'secret', '.', 2) <> all(${keys}::text[])))`;
