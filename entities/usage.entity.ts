import { Index, Property } from '@mikro-orm/decorators/legacy';
import { Field, Int, ObjectType } from 'type-graphql';
import { BuilderId } from '../schema/scalars.ts';
import { CalendarDate } from '../schema/time-zone.ts';
import { addField, InstantField, LargeSerialId, Reference, TextField } from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { OAuthClient } from './oauth-client.entity.ts';
import { PersonalData } from './personal-data.ts';

/** Id of a client of the integrator. */
const ClientField = (primary = false) =>
  addField(Reference(() => OAuthClient, { primary }) as PropertyDecorator, () => String, {
    description: 'The client that sent them.',
  });

/** Requests of one client for one operation on a day, which every process adds its counts to (REQ-6). */
@EntityType({ description: 'Numbers of requests of a client for an operation on a day.' })
@Index({ properties: ['date'] })
export class UsageDay {
  @Reference(() => Integrator, { primary: true })
  integratorId!: string;

  @addField(Property({ type: 'date', primary: true }) as PropertyDecorator, () => CalendarDate, {
    description: 'Day in UTC.',
  })
  date!: string;

  @ClientField(true)
  clientId!: string;

  @addField(Property({ type: 'text', primary: true }) as PropertyDecorator, () => String, {
    description: 'Method and path, or `graphql` and the name of the operation; `*` for those beyond 200 of a day.',
  })
  operation!: string;

  @ColumnField(() => Int, 'integer', { description: 'All requests.' })
  requests!: number;

  @ColumnField(() => Int, 'integer', { description: 'Requests that failed with a status of 400 to 499.' })
  rejections!: number;

  @ColumnField(() => Int, 'integer', { description: 'Requests that failed with a status of 500 or more.' })
  failures!: number;
}

@ObjectType({ description: 'What is wrong with a field of the input.', simpleResolvers: true })
export class LoggedFieldError {
  @Field(() => String, { description: 'Path into the input. Names that are not of the contract are `*`.' })
  fieldName!: string;

  @Field(() => String, { description: 'The rule that is broken.' })
  message!: string;
}

/** A request of an integrator that failed (REQ-1). */
@EntityType({ description: 'A request that failed.', tableName: 'request_log' })
@PersonalData<LoggedRequest>({
  none: ['requestId', 'method', 'path', 'graphqlOperation', 'tool', 'code', 'message', 'errors', 'builderId'],
})
@Index({ properties: ['at'] })
@Index({ properties: ['requestId'] })
@Index({ properties: ['integratorId', 'at'] })
export class LoggedRequest {
  @LargeSerialId()
  id!: number;

  @Reference(() => Integrator)
  integratorId!: string;

  @TextField({ description: '`X-Request-Id` of the response.' })
  requestId!: string;

  @InstantField({ description: 'When the response was sent.' })
  at!: string;

  @ClientField()
  clientId!: string;

  @TextField({ description: 'HTTP method.' })
  method!: string;

  @TextField({ description: 'Path of the operation, without ids; `*` for one that does not exist.' })
  path!: string;

  @TextField({ nullable: true, description: 'Name of the GraphQL operation, at most 100 characters.' })
  graphqlOperation!: string | null;

  @TextField({ nullable: true, description: 'Name of the tool that was called.' })
  tool!: string | null;

  @ColumnField(() => Int, 'integer', { description: 'HTTP status; in GraphQL that of the first error.' })
  status!: number;

  @TextField({ description: 'Code of the error; `BAD_USER_INPUT` for errors of fields.' })
  code!: string;

  @TextField({ nullable: true, description: 'What is wrong, where it is no field.' })
  message!: string | null;

  @ColumnField(() => [LoggedFieldError], 'jsonb', { nullable: true, description: 'Errors of fields.' })
  errors!: LoggedFieldError[] | null;

  @ColumnField(() => BuilderId, 'text', { nullable: true, description: 'The connected builder that was called for.' })
  builderId!: string | null;

  @ColumnField(() => Int, 'integer', { description: 'Milliseconds until the response.' })
  durationMs!: number;
}
