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

/** What the model does at a step. */
interface Transition {
  name: string;
  step: Step;
  answer: Answer;
  after: ModelState;
  text: string;
  key: string;
}

/** Transitions of the model from the states of short runs, which searches share. Those of longer runs would fill the memory. */
const known = new Map<string, Transition[]>();
const KNOWN_RUN = 3;

function findTransitions({ state, run }: Reached): Transition[] {
  const key = run.length <= KNOWN_RUN ? run.join() : null;
  const found = key === null ? undefined : known.get(key);
  if (found) return found;
  const transitions = [...ALPHABET].map(([name, step]) => {
    const [answer, after] = respond(state, step);
    return { name, step, answer, after, text: toText(after), key: toKey(after) };
  });
  if (key !== null) known.set(key, transitions);
  return transitions;
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
    for (const reached of front) {
      const { state, run } = reached;
      for (const { name, step, answer, after, text, key } of findTransitions(reached)) {
        transitions++;
        const [given, givenAfter] = machine(state, step);
        if (answer !== given || text !== toText(givenAfter)) {
          differences.push(`${[...run, name].join(' → ')}: ${given} in place of ${answer}`);
          if (stopsAtFirst) return { states: [...states.values()], transitions, differences };
        }
        if (states.has(key)) continue;
        const further = { state: after, run: [...run, name] };
        states.set(key, further);
        next.push(further);
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
