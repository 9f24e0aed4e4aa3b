import { Extensions, Field, Int, ObjectType } from 'type-graphql';
import { LoggedRequest } from '../../entities/usage.entity.ts';
import { ListCursor } from '../../schema/list-cursor.scalar.ts';

@ObjectType({ description: 'Cursor of a page of the request log.', simpleResolvers: true })
class RequestLogPageMeta {
  @Field(() => ListCursor, { nullable: true, description: '`cursor` of the next page; null at the end.' })
  nextCursor!: string | null;

  @Field(() => Int, {
    description: 'Failed requests of the days of the range, whatever their status, that the log does not hold.',
  })
  dropped!: number;
}

@ObjectType({ description: 'A page of the requests that failed.', simpleResolvers: true })
@Extensions({ envelope: true })
export class RequestLogPage {
  @Field(() => [LoggedRequest], { description: 'Requests, the newest first.' })
  data!: LoggedRequest[];

  @Field(() => RequestLogPageMeta)
  meta!: RequestLogPageMeta;
}
