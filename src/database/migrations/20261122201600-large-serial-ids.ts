import { Migration } from '@mikro-orm/migrations';

/** Numbers conflicts and rejections by bigint: each repeated conflict and each dropped rejection takes a number too. */
export class Migration20261122201600LargeSerialIds extends Migration {
  override name = 'Migration20261122201600LargeSerialIds';

  override up(): void {
    this.#alter('bigint');
  }

  override down(): void {
    this.#alter('int');
  }

  #alter(type: string): void {
    for (const table of ['sign_on_conflict', 'rejection']) {
      this.addSql(`alter table "${table}" alter column "id" type ${type};`);
      this.addSql(`alter sequence "${table}_id_seq" as ${type};`);
    }
  }
}
