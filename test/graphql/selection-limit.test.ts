import { describe, expect, it } from 'vitest';
import { Project } from '../../entities/project.entity.ts';
import { Reader } from '../../src/database/read/reader.ts';
import { useService } from '../support/harness.ts';

const service = useService();

describe('statements that read a selection', () => {
  it('are prepared under a name 250 times at most; beyond, they have no name and are planned for each use', async () => {
    const database = service.databases.au1;
    const [builderId] = service.findDemoClient('A').builderIds;
    const projects = new Reader(Project, { filters: { builderId: { column: 'builder_id', op: 'eq' } } });
    const names = new Set<string>();
    const end = database.onStatement(({ name }) => names.add(name));
    const select = async (key: string) => {
      return projects
        .select({ paths: new Set(['name']), total: true, key })
        .findPage(database, { builderId }, { offset: 0, limit: 25 });
    };
    const first = await select('0');
    for (let n = 1; n < 260; n++) await select(`${n}`);
    const last = await select('last');
    const again = await select('0');
    end();
    const narrow = [...names].filter((name) => name.includes('~')).length;
    expect(narrow).toBeGreaterThan(200);
    expect(narrow).toBeLessThanOrEqual(250);
    expect([...names].filter((name) => !name.includes('~'))).toEqual(['']);
    expect(() => last.data[0]!.status).toThrow('status was not read');
    expect(last.data.map(({ name }) => name)).toEqual(first.data.map(({ name }) => name));
    expect(again).toEqual(first);
  });
});
