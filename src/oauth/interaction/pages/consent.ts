import type { ShownChoice } from '../builder-choices.ts';
import type { SignedInUser } from '../sessions.ts';
import { type ApplicationContext, form, signedInAs } from './forms.ts';
import { html, type Markup } from './html.ts';
import { badge, logoOrigins, type Page } from './layout.ts';
import { wordsOf } from './scope-words.ts';

interface ConsentQuestion {
  user: SignedInUser;
  choice: ShownChoice;
  scopes: readonly string[];
  /** Who makes the application. */
  vendor: string | null;
  /** Where the browser goes next, as people would say it. */
  destination: string;
  /** Whether the access outlasts an hour. */
  refreshes: boolean;
  /** Whether the user has another company. */
  hasOthers: boolean;
}

/** What the application will be able to see and do, for which company, in plain words. OAU-24. */
export function consentPage(context: ApplicationContext, question: ConsentQuestion): Page {
  const { user, choice, scopes, vendor, destination, refreshes, hasOthers } = question;
  const { application } = context;
  const { sees, changes } = wordsOf(scopes);
  return {
    title: `Allow ${application}`,
    images: logoOrigins([choice.logoUrl]),
    content: html`<div class="parties" aria-hidden="true">${badge(application, null)}<span class="line"></span>${badge(
      choice.name,
      choice.logoUrl,
    )}</div>
<h1>Allow ${application} to use the data of ${choice.name}?</h1>
<p class="lead">${
      vendor !== null && vendor !== application && html`${application} is made by <strong>${vendor}</strong>. `
    }It gets access to <strong>${choice.name}</strong> only.${hasOthers && ' Your other companies stay closed to it.'}</p>
${sees.length > 0 && permissions('It will be able to see', sees, EYE, '')}
${changes.length > 0 && permissions('It will be able to make changes', changes, PENCIL, ' change')}
<p class="small">${
      refreshes
        ? 'It keeps this access while it uses it at least every 30 days. The access ends when you leave the company, or when the company ends the connection.'
        : 'It keeps this access for one hour.'
    } It never learns your password.</p>
${form(
  context,
  '/oauth/authorize',
  html`<input type="hidden" name="builder_id" value="${choice.id}">
<button name="action" value="allow">Allow</button>
<button name="action" value="deny" class="second">Don’t allow</button>`,
)}
<p class="small">Either way you go back to <strong>${destination}</strong>.</p>
${hasOthers && html`<div class="small">${otherCompanyForm(context)}</div>`}
${signedInAs(context, user)}`,
  };
}

const otherCompanyForm = (context: ApplicationContext): Markup =>
  form(
    context,
    '/oauth/authorize',
    html`<button class="link" name="action" value="other">Choose another company</button>`,
    'inline',
  );

const permissions = (heading: string, words: readonly string[], icon: Markup, className: string): Markup =>
  html`<section class="permissions${className}">
<h2>${icon}${heading}</h2>
<ul>${words.map((one) => html`<li>${one}</li>`)}</ul>
</section>`;

const EYE = html`<svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2"
 stroke-linejoin="round"><path d="M2 12s3.6-7 10-7 10 7 10 7-3.6 7-10 7S2 12 2 12z"/><circle cx="12" cy="12" r="3"/></svg>`;

const PENCIL = html`<svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2"
 stroke-linejoin="round"><path d="M4 20l1-5L16 4l4 4L9 19l-5 1zM13 7l4 4"/></svg>`;
