import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TSMigrationGenerator } from '@mikro-orm/migrations';

const LINE_WIDTH = 120;

/** Writes migrations in the form that the linter accepts, with the class named as in `index.ts`. */
export class MigrationFileGenerator extends TSMigrationGenerator {
  override generateMigrationFile(name: string, { up }: { up: string[] }): string {
    const className = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const statements = up.map((sql) => this.createStatement(sql, 4)).join('');
    return `import { Migration } from '@mikro-orm/migrations';

export class ${className} extends Migration {
  override name = '${className}';

  override up(): void {
${statements}  }
}
`;
  }

  override createStatement(sql: string, padLeft: number): string {
    if (!sql) return '';
    const padding = ' '.repeat(padLeft);
    const literal = `\`${sql.replace(/[`$\\]/g, '\\$&')}\``;
    const line = `${padding}this.addSql(${literal});`;
    if (line.length <= LINE_WIDTH || sql.includes('\n')) return `${line}\n`;
    return `${padding}this.addSql(\n${padding}  ${literal},\n${padding});\n`;
  }
}

/** Returns the text of `index.ts` for the migrations of the folder: an import of each, and the list, oldest first. */
export async function renderMigrationIndex(folder: string): Promise<string> {
  const files = (await readdir(folder)).filter((file) => /^\d+-.*\.ts$/.test(file)).sort();
  const migrations = await Promise.all(
    files.map(async (file) => {
      const [, className] = /export class (\w+)/.exec(await readFile(join(folder, file), 'utf8'))!;
      return { file, className: className! };
    }),
  );
  const imports = migrations.map(({ file, className }) => `import { ${className} } from './${file}';\n`);
  const names = migrations.map(({ className }) => className);
  // As the formatter writes it.
  const line = `export const migrations = [${names.join(', ')}];`;
  const list = line.length <= 120 ? line : `export const migrations = [\n  ${names.join(',\n  ')},\n];`;
  return `${imports.join('')}
/** Every migration, oldest first. \`npm run cli -- migrate create\` writes this file. */
${list}
`;
}
