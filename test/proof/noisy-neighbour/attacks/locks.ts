import { type Attack, type AttackSession, post } from '../attack.ts';
import type { Attacker } from '../scenario.ts';

function report(name: string, revision: number): object {
  const block = { sourceBlockId: 'a', type: 'TEXT', properties: {}, richText: [{ text: 'x'.repeat(20_000) }] };
  return {
    ...{
      sourceApp: 'attack',
      sourceExternalId: name,
      sourceRevision: revision,
      sourceCreatedAt: '2026-03-02T07:30:00Z',
    },
    ...{ walkthroughDate: '2026-03-02T07:00:00Z', sourceAuthor: { externalId: 'a', name: 'b' } },
    page: { schemaVersion: 1, title: 'Walk', blocks: [block] },
  };
}

const signOn = (attacker: Attacker, number: number, workerId: string) =>
  post(attacker, number, `/builders/${attacker.builderId}/projects/${attacker.projectIds[0]}/sign-on-events`, {
    ...{ sourceEventId: `attack-${number}`, workerId, type: 'SIGN_ON' },
    occurredAt: new Date(Date.now() - 60_000).toISOString(),
  });

/** Sends writes that wait for the same locks, from every client of an attacker. */
function sendCompetingWrites(session: AttackSession, attacker: Attacker, connections: number): Promise<void> {
  const { builderId, notesMeetingId } = attacker;
  return session.flood(connections, (number) => {
    switch (number % 4) {
      case 0:
        return signOn(attacker, number, attacker.workerIds[0]!);
      case 1:
        return post(attacker, number, `/builders/${builderId}/photo-reports/sync`, report('contended', number + 1));
      case 2:
        return post(attacker, number, `/builders/${builderId}/meetings/${notesMeetingId}/notes`, {
          ...{ externalSourceId: 'contended', summaryMarkdown: `${number} `.repeat(1_000) },
        });
      default:
        return post(attacker, number, `/builders/${builderId}/photo-folders`, {
          ...{ name: `Folder ${number}`, projectId: attacker.projectIds[0] },
        });
    }
  });
}

export const lockAttacks: Attack[] = [
  {
    ...{ name: 'locks-report', short: true },
    about: 'Syncs of one photo report, revision after revision, 128 connections',
    run: (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/photo-reports/sync`;
      return session.flood(128, (number) => post(attacker, number, path, report('contended', number + 1)));
    },
  },
  {
    name: 'locks-worker',
    about: 'Sign-on events of one worker, 128 connections',
    run: (session) => session.flood(128, (number) => signOn(session.attacker, number, session.attacker.workerIds[0]!)),
  },
  {
    name: 'locks-page',
    about: 'Bulk upserts and deletes of one page with photos that do not exist, 128 connections',
    run: (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/photo-gallery/bulk-upsert`;
      const photos = Array.from({ length: 100 }, (_, at) => ({
        externalSourceId: `${at}`,
        imageAttachment: { key: `uploads/${attacker.builderId}/missing${at}`, regionId: 'au1', type: 'attachment' },
      }));
      const names = { externalSourceId: 'contended', sourceApp: 'attack', projectId: attacker.projectIds[0] };
      return session.flood(128, (number) => {
        const request = post(attacker, number, path, { ...names, folderName: 'Contended', photos });
        return number % 4 ? request : { ...post(attacker, number, path, names), method: 'DELETE' };
      });
    },
  },
  {
    name: 'locks-notes',
    about: 'Notes of 1 MB for one meeting, which each rewrite the meeting, 32 connections',
    run: (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/meetings/${attacker.notesMeetingId}/notes`;
      return session.flood(32, (number) =>
        post(attacker, number, path, { externalSourceId: 'contended', summaryMarkdown: `${number}`.repeat(10_000) }),
      );
    },
  },
  {
    name: 'locks-mixed',
    about: 'Two integrators, one of them on the builder of the victim, contend for all of these, 128 connections each',
    run: (session) =>
      Promise.all(session.scenario.attackers.map((attacker) => sendCompetingWrites(session, attacker, 128))),
  },
];
