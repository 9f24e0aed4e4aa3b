/** Process of the attackers, so that they do not share an event loop with the victim. It runs the attack of the message. */
import { type AttackOrder, type AttackResult, AttackSession } from './attack.ts';
import { ATTACKS } from './attacks/index.ts';

process.on('message', async (order: AttackOrder) => {
  const session = new AttackSession(order);
  const attack = ATTACKS.find(({ name }) => name === order.name)!;
  let problem = '';
  // Responses that arrive after the end of the attack are not awaited.
  await Promise.race([attack.run(session), session.waitForEnd()]).catch((error: Error) => {
    problem = error.stack ?? error.message;
  });
  await session.waitForEnd();
  session.close();
  const result: AttackResult = { statuses: session.statuses, megabytes: session.bytes / 1_048_576, problem };
  process.send!(result, () => process.exit());
});
process.on('disconnect', () => process.exit());
