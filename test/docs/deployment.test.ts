import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { listSettings } from '../../src/config/settings.ts';
import { loadConfig } from '../../src/config.ts';
import { READER_SETTINGS } from '../../src/database/pool/session-settings.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const settings = listSettings().map(({ name }) => name as string);
const { bin, files } = JSON.parse(read('package.json'));
const compose = parse(read('deploy/compose.yaml'), { merge: true });
const containerfile = read('deploy/Containerfile');
const unit = read('deploy/builder-api.service');

const PUBLIC_NAME = /\$\{PUBLIC_NAME:\?\}/;

/** Replaces each `${NAME:?}` by a unique value. */
const interpolate = (text: string) =>
  text
    .replace(PUBLIC_NAME, 'localhost')
    .replace(/\$\{(\w+):\?\}/g, (_, name) => `${name.toLowerCase()}${'0'.repeat(64)}`);

describe('deploy/compose.yaml', () => {
  const instances = ['api-1', 'api-2'];

  it.each(instances)('%s has settings that the service accepts in production', (name) => {
    const { environment } = compose.services[name];
    const others = Object.keys(environment).filter((each) => !settings.includes(each));
    expect(others).toEqual(['NODE_EXTRA_CA_CERTS']);
    const env = Object.entries<string>(environment).map(([each, value]) => [each, interpolate(value)]);
    const config = loadConfig({ NODE_ENV: 'production', ...Object.fromEntries(env) });
    expect(config).toMatchObject({ production: true, trustProxy: 1, s3: { bucket: 'builder-api' } });
  });

  it.each(instances)('%s has a read-only root and no capabilities', (name) => {
    expect(compose.services[name]).toMatchObject({
      ...{ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
      depends_on: { migrate: { condition: 'service_completed_successfully' } },
    });
  });

  it('runs the instances as a role that owns no table, and migrations as the owner (ACC-20)', () => {
    for (const name of instances) {
      const { environment } = compose.services[name];
      expect(environment.DATABASE_URL_AU1).toMatch(/\/\/builder_api:\$\{SERVICE_PASSWORD:\?\}@/);
      expect(JSON.stringify(environment)).not.toMatch(/OWNER|POSTGRES_PASSWORD/);
    }
    const { migrate, postgres } = compose.services;
    expect(migrate.environment.DATABASE_URL_AU1_OWNER).toContain(`//${postgres.environment.POSTGRES_USER}:`);
    const statements = compose.configs['service-role'].content;
    expect(statements).toMatch(/^create role builder_api login password/);
    for (const [name, value] of Object.entries(READER_SETTINGS))
      expect(statements).toContain(`alter role builder_api set ${name} = '${value}';`);
  });

  it('starts services that exist, behind the proxy', () => {
    const names = Object.keys(compose.services);
    for (const { depends_on: needed = [] } of Object.values<{ depends_on?: object }>(compose.services)) {
      for (const name of Array.isArray(needed) ? needed : Object.keys(needed)) expect(names).toContain(name);
    }
  });

  it('names every image that is not built here by its digest', () => {
    const built = Object.values<{ build?: { dockerfile_inline?: string } }>(compose.services).map(
      ({ build }) => build?.dockerfile_inline ?? '',
    );
    const bases = [containerfile, ...built].flatMap((text) => text.match(/\bdocker\.io\/\S+/g) ?? []);
    const images = Object.values<{ image?: string }>(compose.services).flatMap(({ image }) => image ?? []);
    const foreign = [...bases, ...images.filter((image) => image !== 'builder-api')];
    expect(foreign).toHaveLength(6);
    for (const image of foreign) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  it('gives the proxy the addresses that its configuration takes from the environment', () => {
    const { environment, secrets } = compose.services.proxy;
    const names = read('deploy/haproxy.cfg').matchAll(/"\$\{(\w+)\}"/g);
    expect(Object.keys(environment).sort()).toEqual([...new Set([...names].map(([, name]) => name))].sort());
    expect([environment.API_1, environment.API_2]).toEqual(instances.map((name) => `${name}:4000`));
    expect(secrets).toEqual(['certificate.pem', 'certificate.pem.key']);
  });

  it('publishes the store at the address that instances and browsers use', () => {
    const { services } = compose;
    expect(services.proxy.networks.default.aliases).toEqual([expect.stringMatching(PUBLIC_NAME)]);
    for (const name of instances) {
      const { BASE_URL, S3_ENDPOINT } = services[name].environment;
      const published = [BASE_URL, S3_ENDPOINT]
        .map((url) => url.replace(PUBLIC_NAME, 'localhost'))
        .map((url) => new URL(url).port);
      expect(services.proxy.ports).toEqual(published.map((port) => `${port}:${port}`));
    }
  });
});

describe('deploy/Containerfile', () => {
  it('runs the command of the package as another user than root', () => {
    expect(Object.keys(bin)).toEqual(['builder-api']);
    expect(containerfile).toMatch(/^ENTRYPOINT \["builder-api"\]\nCMD \["serve"\]$/m);
    const last = containerfile.split(/^FROM /m).at(-1)!;
    expect(last.indexOf('USER node')).toBeLessThan(last.indexOf('ENTRYPOINT'));
    expect(last).not.toMatch(/npm ci|COPY \. /);
    expect(containerfile).toContain('HEALTHCHECK');
  });
});

describe('deploy/builder-api.service', () => {
  it('starts the command of the package with settings that exist', () => {
    expect(unit).toMatch(/^ExecStart=\S+\/builder-api serve$/m);
    const names = /^Environment=(.*)$/m
      .exec(unit)![1]!
      .split(' ')
      .map((pair) => pair.split('=')[0]!);
    expect(names.filter((name) => !settings.includes(name))).toEqual([]);
  });

  it('keeps the time that a drain takes', () => {
    const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]);
    expect(seconds).toBeGreaterThan(30);
  });
});

describe('the package', () => {
  it('contains the deployment files but for programs of the build, and the documentation', () => {
    const tracked = execFileSync('git', ['ls-files', 'deploy'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
    const packed = tracked.filter((path) => files.some((pattern: string) => matchesGlob(path, pattern)));
    expect(packed).toEqual(tracked.filter((path) => !path.endsWith('.js')));
    expect(files).toContain('docs');
  });

  it.each(['.env', 'certificate.pem', 'certificate.pem.key', 'prometheus/metrics-token'])(
    'and the repository and images leave out the secret deploy/%s',
    (name) => {
      const path = `deploy/${name}`;
      expect(files.filter((pattern: string) => matchesGlob(path, pattern))).toEqual([]);
      for (const ignored of ['.gitignore', '.dockerignore'])
        expect(
          read(ignored)
            .split('\n')
            .some((pattern) => matchesGlob(path, pattern.replace(/^\//, ''))),
          ignored,
        ).toBe(true);
    },
  );
});
