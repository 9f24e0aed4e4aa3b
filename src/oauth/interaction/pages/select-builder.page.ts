import { type BuilderMembership, isConnected } from '../../builder-memberships.ts';
import { findDisallowedScopes } from '../../checks/scope.check.ts';
import type { SignedInUser } from '../sessions.ts';
import { type ClientFormContext, renderCancelForm, renderPromptForm, renderSignedInUser } from './forms.ts';
import { html, type Markup } from './html.ts';
import { logoOrigins, type Page, renderBadge } from './layout.ts';
import { summarizeScopes } from './scope-descriptions.ts';

/** A builder on the selection or consent page. */
export interface BuilderChoice extends BuilderMembership {
  /** Signed URL of the logo. */
  logoUrl: string | null;
}

interface BuilderSelection {
  user: SignedInUser;
  choices: readonly BuilderChoice[];
  scopes: readonly string[];
  /** Whether the client preselected a builder that the user cannot select. */
  isPreselectionInvalid: boolean;
}

/** Returns the page on which the user selects a builder. Builders that cannot be selected are listed with the reason. */
export function createSelectBuilderPage(
  context: ClientFormContext,
  { user, choices, scopes, isPreselectionInvalid }: BuilderSelection,
): Page {
  const { clientName } = context;
  const selectable = choices.filter((choice) => isSelectable(choice, scopes));
  const hasSelectable = selectable.length > 0;
  const list = html`<fieldset>
<legend class="lead">Which company’s data may <strong>${clientName}</strong> use?</legend>
${choices.map((choice) => renderChoice(choice, scopes, selectable.length === 1 && selectable[0] === choice))}
</fieldset>`;
  return {
    title: 'Choose a company',
    images: logoOrigins(choices.map(({ logoUrl }) => logoUrl)),
    content: html`<h1>${hasSelectable ? 'Choose a company' : 'No company can be chosen'}</h1>
${
  isPreselectionInvalid &&
  html`<div class="notice" role="status"><p>${clientName} asked for a company that you cannot choose.</p></div>`
}
${
  hasSelectable
    ? renderPromptForm(context, html`${list}<button name="action" value="choose">Continue</button>`, 'selection')
    : renderNoneSelectable(context, choices, list)
}
${hasSelectable ? renderCancelForm(context) : renderLeaveForm(context)}
${renderSignedInUser(context, user)}`,
  };
}

/** Whether the builder is connected and its connection allows all of the scopes. */
export const isSelectable = (choice: BuilderChoice, scopes: readonly string[]): boolean =>
  isConnected(choice) && findDisallowedScopes(scopes, choice).length === 0;

function renderNoneSelectable(
  { clientName }: ClientFormContext,
  choices: readonly BuilderChoice[],
  list: Markup,
): Markup {
  if (choices.length === 0) {
    return html`<p class="lead">You are not a member of any company here, so there is nothing that
<strong>${clientName}</strong> could use. Ask your company’s administrator to add you.</p>`;
  }
  return html`${list}<p>Ask your company’s administrator, or the developers of ${clientName}, to set up the connection.</p>`;
}

/** Renders the form that returns to the client with the reason why no builder can be selected. */
const renderLeaveForm = (context: ClientFormContext): Markup =>
  renderPromptForm(context, html`<button name="action" value="leave">Go back to ${context.clientName}</button>`);

function renderChoice(choice: BuilderChoice, scopes: readonly string[], checked: boolean): Markup {
  const { builderId, builderName, logoUrl, role } = choice;
  const problem = describeProblem(choice, scopes);
  const id = `builder-${builderId}`;
  return html`<div class="choice${problem && ' off'}">
<input type="radio" name="builder_id" id="${id}" value="${builderId}" required${checked && html` checked`}${
    problem && html` disabled`
  }>
<label for="${id}">${renderBadge(builderName, logoUrl)}<span>
<span class="name">${builderName}</span>
<span class="detail">${problem ?? toRoleLabel(role)}</span>
</span></label>
</div>`;
}

/** Returns why the builder cannot be selected; null when it can. */
function describeProblem(choice: BuilderChoice, scopes: readonly string[]): string | null {
  if (!isConnected(choice)) return 'Not connected to this application.';
  const disallowed = findDisallowedScopes(scopes, choice);
  return disallowed.length > 0 ? `Does not share with this application: ${summarizeScopes(disallowed)}.` : null;
}

/** Converts `SITE_MANAGER` to `Site manager`. */
function toRoleLabel(role: string): string {
  const label = role.replaceAll('_', ' ').toLowerCase();
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}
