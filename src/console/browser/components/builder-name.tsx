import { BuilderSearchDocument } from '../graphql/generated.ts';
import { useRequest } from '../graphql/use-request.ts';

/** Name of a builder; its id while it is read, or where the builder is no longer there. */
export function BuilderName({ id }: { id: string }) {
  const { data } = useRequest(BuilderSearchDocument, { id });
  return data?.findBuilders.data[0]?.name ?? <code>{id}</code>;
}
