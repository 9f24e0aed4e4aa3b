/** Options of V8: whether the young generation of the heap keeps its size, or grows under load as it does by default. */
export const YOUNG_GENERATION = { fixed: '--semi-space-growth-factor=1', growing: '--semi-space-growth-factor=2' };
