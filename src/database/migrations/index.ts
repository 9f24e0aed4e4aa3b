import { Migration20261120173400Initial } from './20261120173400-initial.ts';
import { Migration20261120183000ListTotals } from './20261120183000-list-totals.ts';
import { Migration20261120183100ListIndexes } from './20261120183100-list-indexes.ts';
import { Migration20261122070000TotalTriggers } from './20261122070000-total-triggers.ts';
import { Migration20261122070531UploadQuotas } from './20261122070531-upload-quotas.ts';
import { Migration20261122124743AuditLog } from './20261122124743-audit-log.ts';
import { Migration20261122125638EventLog } from './20261122125638-event-log.ts';
import { Migration20261122131404AddErasures } from './20261122131404-add-erasures.ts';
import { Migration20261122131405StaffAndPasswordLinks } from './20261122131405-staff-and-password-links.ts';
import { Migration20261122131433Webhooks } from './20261122131433-webhooks.ts';
import { Migration20261122133056ChangeIndexes } from './20261122133056-change-indexes.ts';
import { Migration20261122134700TokenFamilyUser } from './20261122134700-token-family-user.ts';
import { Migration20261122160500PseudonymsOfErasures } from './20261122160500-pseudonyms-of-erasures.ts';
import { Migration20261122161101BuilderTimeZone } from './20261122161101-builder-time-zone.ts';
import { Migration20261122161321Console } from './20261122161321-console.ts';
import { Migration20261122161500PhotoRenditions } from './20261122161500-photo-renditions.ts';
import { Migration20261122162031FigureIndexes } from './20261122162031-figure-indexes.ts';
import { Migration20261122164500BuildersOfErasures } from './20261122164500-builders-of-erasures.ts';
import { Migration20261122170000EventOrder } from './20261122170000-event-order.ts';
import { Migration20261122171000ActiveAfter } from './20261122171000-active-after.ts';
import { Migration20261122172000PromotionWithoutLoss } from './20261122172000-promotion-without-loss.ts';
import { Migration20261122173000EventPartitionLock } from './20261122173000-event-partition-lock.ts';
import { Migration20261122180000DayTotals } from './20261122180000-day-totals.ts';
import { Migration20261122180100DayTotalsOfRows } from './20261122180100-day-totals-of-rows.ts';
import { Migration20261122192918ConsoleListIndexes } from './20261122192918-console-list-indexes.ts';
import { Migration20261122193901RenditionFailures } from './20261122193901-rendition-failures.ts';
import { Migration20261122201600LargeSerialIds } from './20261122201600-large-serial-ids.ts';
import { Migration20261122235500NumberBacklog } from './20261122235500-number-backlog.ts';
import { Migration20261123001049WebhookDeliveriesByStatus } from './20261123001049-webhook-deliveries-by-status.ts';
import { Migration20261123030000TotalMaintenance } from './20261123030000-total-maintenance.ts';
import { Migration20261123032413RenditionsByDueTime } from './20261123032413-renditions-by-due-time.ts';
import { Migration20261123064819TotalsByMonth } from './20261123064819-totals-by-month.ts';
import { Migration20261123085403MonthOfDates } from './20261123085403-month-of-dates.ts';
import { Migration20261123150000VacuumOfChanges } from './20261123150000-vacuum-of-changes.ts';

/** Every migration, oldest first. `npm run cli -- migrate create` writes this file. */
export const migrations = [
  Migration20261120173400Initial,
  Migration20261120183000ListTotals,
  Migration20261120183100ListIndexes,
  Migration20261122070000TotalTriggers,
  Migration20261122070531UploadQuotas,
  Migration20261122124743AuditLog,
  Migration20261122125638EventLog,
  Migration20261122131404AddErasures,
  Migration20261122131405StaffAndPasswordLinks,
  Migration20261122131433Webhooks,
  Migration20261122133056ChangeIndexes,
  Migration20261122134700TokenFamilyUser,
  Migration20261122160500PseudonymsOfErasures,
  Migration20261122161101BuilderTimeZone,
  Migration20261122161321Console,
  Migration20261122161500PhotoRenditions,
  Migration20261122162031FigureIndexes,
  Migration20261122164500BuildersOfErasures,
  Migration20261122170000EventOrder,
  Migration20261122171000ActiveAfter,
  Migration20261122172000PromotionWithoutLoss,
  Migration20261122173000EventPartitionLock,
  Migration20261122180000DayTotals,
  Migration20261122180100DayTotalsOfRows,
  Migration20261122192918ConsoleListIndexes,
  Migration20261122193901RenditionFailures,
  Migration20261122201600LargeSerialIds,
  Migration20261122235500NumberBacklog,
  Migration20261123001049WebhookDeliveriesByStatus,
  Migration20261123030000TotalMaintenance,
  Migration20261123032413RenditionsByDueTime,
  Migration20261123064819TotalsByMonth,
  Migration20261123085403MonthOfDates,
  Migration20261123150000VacuumOfChanges,
];
