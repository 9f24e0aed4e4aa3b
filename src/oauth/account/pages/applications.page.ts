import type { RegionId } from '../../../shared/regions.ts';
import { type FormContext, renderForm, renderSignedInUser } from '../../interaction/pages/forms.ts';
import { html, type Markup } from '../../interaction/pages/html.ts';
import type { Page } from '../../interaction/pages/layout.ts';
import { describeScopes } from '../../interaction/pages/scope-descriptions.ts';
import type { SignedInUser } from '../../interaction/sessions.ts';

/** An application that a user has authorised for one builder. */
export interface AuthorizedApplication {
  clientId: string;
  clientName: string;
  /** Null for a client without an integrator. */
  vendor: string | null;
  builderId: string;
  builderName: string;
  /** Of all current authorisations of the application for the builder. */
  scopes: string[];
  /** ISO 8601: when the user first allowed it, of the authorisations that are current. */
  since: string;
  /** ISO 8601: when the application last got a token, which it does at least every hour while it is used. */
  lastUsed: string;
}

interface ApplicationsContent {
  user: SignedInUser;
  applications: readonly (AuthorizedApplication & { regionId: RegionId })[];
  /** Name of the application that was just revoked; null for none. */
  revoked: string | null;
}

/** Returns the page that lists the applications a user has authorised, each with a form that revokes it. OAU-46, OAU-47. */
export const createApplicationsPage = (
  context: FormContext,
  { user, applications, revoked }: ApplicationsContent,
): Page => ({
  title: 'Your applications',
  content: html`<h1>Applications that use your data</h1>
<p class="lead">You have allowed these applications to act for you. Removing one ends its access at once; what it has read or written
before remains.</p>
${revoked !== null && html`<div class="notice" role="status"><p>${revoked} no longer has access.</p></div>`}
${applications.length === 0 && html`<p>No application has access.</p>`}
${applications.map((application, index) => renderApplication(context, application, index))}
${renderSignedInUser(context, user, '/account/sign-out')}`,
});

function renderApplication(
  context: FormContext,
  application: ApplicationsContent['applications'][number],
  index: number,
): Markup {
  const { clientId, clientName, vendor, builderId, builderName, regionId, since, lastUsed } = application;
  const { readable, changeable } = describeScopes(application.scopes);
  const heading = `application-${index}`;
  return html`<article class="application" aria-labelledby="${heading}">
<h2 id="${heading}">${clientName}</h2>
<dl>
<dt>Company</dt><dd>${builderName}</dd>
${vendor !== null && vendor !== clientName && html`<dt>Made by</dt><dd>${vendor}</dd>`}
<dt>Allowed</dt><dd>${renderDate(since)}</dd>
<dt>Last used</dt><dd>${renderDate(lastUsed)}</dd>
</dl>
<details><summary>What it can do</summary>
${readable.length > 0 && html`<p class="small">See</p><ul>${readable.map((each) => html`<li>${each}</li>`)}</ul>`}
${changeable.length > 0 && html`<p class="small">Change</p><ul>${changeable.map((each) => html`<li>${each}</li>`)}</ul>`}
</details>
${renderForm(
  context,
  '/account/applications',
  html`<input type="hidden" name="region" value="${regionId}">
<input type="hidden" name="client_id" value="${clientId}">
<input type="hidden" name="builder_id" value="${builderId}">
<button class="second">Remove access<span class="hidden"> of ${clientName} to ${builderName}</span></button>`,
)}
</article>`;
}

const DATE = new Intl.DateTimeFormat('en-AU', { dateStyle: 'long', timeZone: 'UTC' });

/** Renders an instant as a day in UTC, because the page knows no other time zone of the reader. */
const renderDate = (instant: string): Markup =>
  html`<time datetime="${instant}">${DATE.format(new Date(instant))}</time>`;
