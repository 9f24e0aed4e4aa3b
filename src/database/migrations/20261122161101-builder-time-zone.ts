import { Migration } from '@mikro-orm/migrations';

export class Migration20261122161101BuilderTimeZone extends Migration {
  override name = 'Migration20261122161101BuilderTimeZone';

  override up(): void {
    this.addSql(`alter table "builder" add "time_zone" text null;`);
  }

  override down(): void {
    this.addSql(`alter table "builder" drop column "time_zone";`);
  }
}
