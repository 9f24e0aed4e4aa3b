import type { ModelEvent, Step } from './reference-model.ts';

/** The two sides of the alphabet: a worker with a visit each. Swapped, every step is one of the alphabet again. */
const SIDES = ['1', '2'] as const;

const otherSide = (side: string) => (side === '1' ? '2' : '1');

/** Every step that can matter to one visit: what arrives, arrives changed, names the wrong event, or is done by a person. */
function createSteps(side: string): Record<string, Step> {
  const minute = Number(side) * 100;
  const event = (name: string, number: number, changes: Partial<ModelEvent> = {}): { event: ModelEvent } => ({
    event: {
      id: name + side,
      type: 'SIGN_OFF',
      worker: `worker${side}`,
      names: `on${side}`,
      at: minute + number,
      ...changes,
    },
  });
  return {
    'sign-on': event('on', 0, { type: 'SIGN_ON', names: null }),
    'sign-on, changed': event('on', 1, { type: 'SIGN_ON', names: null }),
    'sign-off': event('off', 30),
    'sign-off, changed': event('off', 31),
    'another sign-off': event('second', 32),
    'sign-off of another worker': event('foreign', 33, { worker: `worker${otherSide(side)}` }),
    'sign-off without a sign-on': event('bare', 34, { names: null }),
    'sign-off that names itself': event('self', 35, { names: `self${side}` }),
    'sign-off that names a sign-off': event('chained', 36, { names: `off${side}` }),
    'sign-off of another worker that names a sign-off': event('tied', 37, {
      worker: `worker${otherSide(side)}`,
      names: `off${side}`,
    }),
    close: { close: `on${side}` },
    archive: { archive: `on${side}` },
  };
}

/** Steps of both sides by name. */
export const ALPHABET: ReadonlyMap<string, Step> = new Map(
  SIDES.flatMap((side) => Object.entries(createSteps(side)).map(([name, step]) => [`${name} ${side}`, step] as const)),
);

/** Swaps the sides in the text of a state: another state of the same shape. Times differ by 100 between the sides. */
export const swapSides = (text: string): string =>
  text
    .replace(/(on|off|second|foreign|bare|self|chained|tied|worker)([12])/g, (_, name, side) => name + otherSide(side))
    .replace(/\b([12])(\d\d)\b/g, (_, side, number) => otherSide(side) + number);
