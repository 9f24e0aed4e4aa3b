import { ALPHABET, swapSides } from './alphabet.ts';
import { type Answer, EMPTY, type ModelState, respond, type Step } from './reference-model.ts';

/** A machine that is compared with the model. */
export type Machine = (state: ModelState, step: Step) => [answer: Answer, next: ModelState];

/** A state, and the first run that reached it. */
export interface Reached {
  state: ModelState;
  /** Names of the steps. */
  run: string[];
}

interface SearchResult {
  states: Reached[];
  transitions: number;
  /** Transitions in which the machine differs from the model. */
  differences: string[];
}

/**
 * Compares a machine with the model in every order of up to so many steps. What happens next depends only on the state, so that each state is
 * continued once; two states that differ in the names of the sides are one. `stopsAtFirst` ends with the first difference.
 */
export function search(machine: Machine, depth: number, { stopsAtFirst = false } = {}): SearchResult {
  const states = new Map<string, Reached>([[toKey(EMPTY), { state: EMPTY, run: [] }]]);
  let front = [...states.values()];
  let transitions = 0;
  const differences: string[] = [];
  for (let length = 0; length < depth; length++) {
    const next: Reached[] = [];
    for (const { state, run } of front) {
      for (const [name, step] of ALPHABET) {
        transitions++;
        const [answer, after] = respond(state, step);
        const [given, givenAfter] = machine(state, step);
        if (answer !== given || toText(after) !== toText(givenAfter)) {
          differences.push(`${[...run, name].join(' → ')}: ${given} in place of ${answer}`);
          if (stopsAtFirst) return { states: [...states.values()], transitions, differences };
        }
        const key = toKey(after);
        if (states.has(key)) continue;
        const reached = { state: after, run: [...run, name] };
        states.set(key, reached);
        next.push(reached);
      }
    }
    front = next;
  }
  return { states: [...states.values()], transitions, differences };
}

/** Text of a state: its events in order of receipt where that matters, which is among those that wait for the same event. */
export function toText({ events, visits }: ModelState): string {
  const all = Object.values(events);
  const waiting = all.filter(({ status }) => status === 'PENDING_SIGN_ON').map(({ event }) => event.id);
  const byId = all.map(({ event, ...rest }) => JSON.stringify([event, rest])).sort();
  return JSON.stringify([
    byId,
    Object.entries(visits)
      .map((visit) => JSON.stringify(visit))
      .sort(),
    waiting,
  ]);
}

function toKey(state: ModelState): string {
  const text = toText(state);
  const swapped = toText(JSON.parse(swapSides(JSON.stringify(state))));
  return text < swapped ? text : swapped;
}
