export { type GateEvent, type GateOptions, GateQueue, type GateResult, type GateStore } from './queue.ts';
