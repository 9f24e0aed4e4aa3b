import { Migration } from '@mikro-orm/migrations';

export class Migration20261122164500BuildersOfErasures extends Migration {
  override name = 'Migration20261122164500BuildersOfErasures';

  override up(): void {
    this.addSql(`alter table "erasure" add "builder_ids" text[] not null default '{}';`);
  }

  override down(): void {
    this.addSql(`alter table "erasure" drop column "builder_ids";`);
  }
}
