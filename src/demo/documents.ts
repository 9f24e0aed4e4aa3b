import { Insurance } from '../../entities/insurance.entity.ts';
import { Prequalification } from '../../entities/prequalification.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import type { Company } from './companies.ts';
import { DAY, iso, pickTimestamps } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import { findFirstDay } from './projects.ts';
import type { Random } from './random.ts';
import { REVIEW_COMMENTS } from './words.ts';

export function addDocuments(context: GeneratorContext, companies: Company[]): void {
  const random = context.random('documents');
  for (const company of companies) {
    addSwms(context, random, company);
    if (!company.row.isBuilder) addPrequalifications(context, random, company);
    addInsurances(context, random, company);
  }
}

const pickDates = (random: Random, { row }: Company) => pickTimestamps(random, findFirstDay(row), -1);

const pickDocumentUrl = (random: Random, kind: string) =>
  random.chance(0.95) ? `https://files.example.com/${kind}/${random.digits(10)}.pdf` : null;

function addSwms({ rows, builderId }: GeneratorContext, random: Random, company: Company): void {
  for (const name of random.sample(company.swms, random.between(company.row.isBuilder ? 2 : 0, 3))) {
    const dates = pickDates(random, company);
    rows.add(SwmsDocument, {
      id: random.id('swms', dates.createdAt),
      ...dates,
      builderId,
      subcontractorId: company.row.id,
      projectId: random.chance(0.7) ? random.pick(company.projects).id : null,
      name,
      status: random.pick(['WAITING_REVIEW', 'REVIEWED', 'REVIEWED', 'REVIEWED', 'CHANGES_REQUESTED']),
      url: pickDocumentUrl(random, 'swms'),
    });
  }
}

function addPrequalifications({ rows, builderId }: GeneratorContext, random: Random, company: Company): void {
  for (let count = random.between(0, 2); count > 0; count--) {
    const dates = pickDates(random, company);
    const status = random.pick(['APPROVED', 'APPROVED', 'REJECTED', 'WAITING_REVIEW', 'SENT'] as const);
    const isReviewed = status === 'APPROVED' || status === 'REJECTED';
    rows.add(Prequalification, {
      id: random.id('prequalification', dates.createdAt),
      ...dates,
      builderId,
      subcontractorId: company.row.id,
      status,
      reviewComments: isReviewed && random.chance(0.8) ? random.pick(REVIEW_COMMENTS) : null,
    });
  }
}

/** Adds insurances. Their expiry is relative to `asOf`, the only input that differs between loads. */
function addInsurances({ rows, builderId, locale, asOf }: GeneratorContext, random: Random, company: Company): void {
  const { coverDays } = company;
  const covers: [type: Insurance['type'], name: string, customType: string | null, days: number | null][] = [
    ['PUBLIC_LIABILITY', 'Public liability certificate of currency', null, coverDays],
    ['WORK_COVER', locale.workCover, null, random.between(coverDays, coverDays + 90)],
  ];
  if (random.chance(0.4)) {
    const cover = random.pick(locale.otherCovers);
    covers.push(['OTHER', `${cover} policy`, cover, random.chance(0.9) ? random.between(-20, 364) : null]);
  }
  for (const [type, name, customType, days] of covers) {
    const dates = pickDates(random, company);
    const reviewed = random.pick(['REVIEWED', 'REVIEWED', 'REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED'] as const);
    rows.add(Insurance, {
      id: random.id('insurance', dates.createdAt),
      ...dates,
      builderId,
      subcontractorId: company.row.id,
      name,
      type,
      customType,
      status: days !== null && days < 0 ? 'EXPIRED' : reviewed,
      expiry: days === null ? null : iso(asOf + days * DAY),
      url: pickDocumentUrl(random, 'insurances'),
    });
  }
}
