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

/** What the model does with a step in a state: the same in each search, so that only the first one of a worker computes it. */
interface Transition {
  name: string;
  step: Step;
  answer: Answer;
  after: ModelState;
  text: string;
  key: string;
}

const known = new Map<ModelState, Transition[]>();
/** States after as many steps are not continued from memory: only the proofs do so, and there are too many. */
const FIRST_FORGOTTEN = 4;

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
      for (const { name, step, answer, after, text, key } of continueModel(state, length < FIRST_FORGOTTEN)) {
        transitions++;
        const [given, givenAfter] = machine(state, step);
        if (answer !== given || text !== toText(givenAfter)) {
          differences.push(`${[...run, name].join(' → ')}: ${given} in place of ${answer}`);
          if (stopsAtFirst) return { states: [...states.values()], transitions, differences };
        }
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

function* continueModel(state: ModelState, isKept: boolean): Generator<Transition> {
  const transitions = known.get(state) ?? [];
  if (isKept) known.set(state, transitions);
  yield* transitions;
  for (const [name, step] of [...ALPHABET].slice(transitions.length)) {
    const [answer, after] = respond(state, step);
    const text = toText(after);
    const transition = { name, step, answer, after, text, key: toKey(after, text) };
    if (isKept) transitions.push(transition);
    yield transition;
  }
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

function toKey(state: ModelState, text = toText(state)): string {
  const swapped = toText(JSON.parse(swapSides(JSON.stringify(state))));
  return text < swapped ? text : swapped;
}
