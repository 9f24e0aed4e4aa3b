import { CostCode } from '../../../entities/cost-code.entity.ts';
import { TimeType } from '../../../entities/time-type.entity.ts';
import { Timesheet } from '../../../entities/timesheet.entity.ts';
import { equal, searchBy } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';
import { keepText } from '../../database/read/row-mapper.ts';

export const timesheets = new Reader(Timesheet, {
  largeColumns: ['notes'],
  // The columns below replace these ids.
  exclude: ['projectId', 'profileId', 'timeTypeId', 'costCodeId'],
  joins: `left join project on project.id = t.project_id
    left join person_profile profile on profile.id = t.profile_id
    left join timesheet_time_type time_type on time_type.id = t.time_type_id
    left join timesheet_cost_code cost_code on cost_code.id = t.cost_code_id`,
  columns: {
    timeType: { sql: 'time_type.name', convert: keepText },
    costCode: { sql: "cost_code.code || ' - ' || cost_code.description", convert: keepText },
    profile: { from: 'profile', fields: ['id', 'fullName', 'type'] },
    project: { from: 'project', fields: ['id', 'name', 'builderId'] },
  },
  filters: {
    ...equal('builderId', 'projectId', 'costCodeId', 'status'),
    startDate: { column: 'date', op: 'from' },
    endDate: { column: 'date', op: 'until' },
    search: searchBy('profile_id', 'person_profile', 'full_name'),
  },
});

export const costCodes = new Reader(CostCode, { filters: equal('builderId'), orderBy: 'code' });

export const timeTypes = new Reader(TimeType, { filters: equal('builderId'), orderBy: 'name' });
