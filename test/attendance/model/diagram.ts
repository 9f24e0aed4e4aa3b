import { ALPHABET } from './alphabet.ts';
import { type ModelState, respond } from './reference-model.ts';
import type { Reached } from './search.ts';

/** Returns what has become of the visit of the first side, as people see it. */
function describe({ events, visits }: ModelState): string {
  const { on1: visit } = visits;
  const isWaiting = Object.values(events).some(
    ({ status, event }) => status === 'PENDING_SIGN_ON' && event.names === 'on1',
  );
  if (!visit) return isWaiting ? 'SignOffWaits' : '[*]';
  if (visit.isArchived) return 'Archived';
  if (visit.isClosed) return 'ClosedByHand';
  return visit.signedOffAt === null ? 'Open' : 'SignedOff';
}

/** Returns the state graph of a visit as a Mermaid diagram: every change that the search has found, without the answers that change nothing. */
export function drawStateGraph(states: readonly Reached[]): string {
  const edges = new Map<string, Set<string>>();
  for (const { state } of states) {
    for (const [name, step] of ALPHABET) {
      const [answer, next] = respond(state, step);
      const [from, to] = [describe(state), describe(next)];
      if (from === to || !name.endsWith(' 1')) continue;
      const edge = `${from} --> ${to}`;
      // A changed event is one more event of its kind.
      const label = name
        .replace(/^another |, changed| of another worker| 1$/g, '')
        .replace(/^(sign-\w+).*/, `$1: ${answer}`);
      edges.set(edge, (edges.get(edge) ?? new Set()).add(label));
    }
  }
  const lines = [...edges].map(
    ([edge, labels]) => `  ${edge} : ${[...labels].sort().join(', ').replaceAll(': ', ' ')}`,
  );
  return `\`\`\`mermaid\nstateDiagram-v2\n${lines.sort().join('\n')}\n\`\`\`\n`;
}
