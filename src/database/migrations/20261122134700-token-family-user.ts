import { Migration } from '@mikro-orm/migrations';

/** Adds the index for a user's authorised applications. */
export class Migration20261122134700TokenFamilyUser extends Migration {
  override name = 'Migration20261122134700TokenFamilyUser';

  override up(): void {
    this.addSql(`create index "oauth_token_family_user_id_index" on "oauth_token_family" ("user_id");`);
  }

  override down(): void {
    this.addSql(`drop index if exists "oauth_token_family_user_id_index";`);
  }
}
