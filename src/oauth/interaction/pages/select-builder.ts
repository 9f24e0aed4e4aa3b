import { isConnected } from '../../checks/builder-choice.ts';
import { scopesRefused } from '../../checks/connection-scope.ts';
import type { ShownChoice } from '../builder-choices.ts';
import type { SignedInUser } from '../sessions.ts';
import { type ApplicationContext, cancelForm, form, signedInAs } from './forms.ts';
import { html, type Markup } from './html.ts';
import { badge, logoOrigins, type Page } from './layout.ts';
import { shortWordsOf } from './scope-words.ts';

interface Selection {
  user: SignedInUser;
  choices: readonly ShownChoice[];
  scopes: readonly string[];
  /** The application named a company that cannot be chosen. */
  preselectionFailed: boolean;
}

/** One of several companies; those that do not allow what is asked are shown with the reason. */
export function selectBuilderPage(
  context: ApplicationContext,
  { user, choices, scopes, preselectionFailed }: Selection,
): Page {
  const { application } = context;
  const open = choices.filter((choice) => isChoosable(choice, scopes));
  const list = html`<fieldset>
<legend class="lead">Which company’s data may <strong>${application}</strong> use?</legend>
${choices.map((choice) => option(choice, scopes, open.length === 1 && open[0] === choice))}
</fieldset>`;
  return {
    title: 'Choose a company',
    images: logoOrigins(choices.map(({ logoUrl }) => logoUrl)),
    content: html`<h1>${open.length > 0 ? 'Choose a company' : 'No company can be chosen'}</h1>
${
  preselectionFailed &&
  html`<div class="notice" role="status"><p>${application} asked for a company that you cannot choose.</p></div>`
}
${
  open.length > 0
    ? form(
        context,
        '/oauth/authorize',
        html`${list}<button name="action" value="choose">Continue</button>`,
        'selection',
      )
    : nothingToChoose(context, choices, list)
}
${open.length > 0 ? cancelForm(context) : leaveForm(context)}
${signedInAs(context, user)}`,
  };
}

export const isChoosable = (choice: ShownChoice, scopes: readonly string[]): boolean =>
  isConnected(choice) && scopesRefused(scopes, choice).length === 0;

function nothingToChoose({ application }: ApplicationContext, choices: readonly ShownChoice[], list: Markup): Markup {
  if (choices.length === 0) {
    return html`<p class="lead">You are not a member of any company here, so there is nothing that
<strong>${application}</strong> could use. Ask your company’s administrator to add you.</p>`;
  }
  return html`${list}<p>Ask your company’s administrator, or the makers of ${application}, to set up the connection.</p>`;
}

/** Goes back with the reason that nothing could be chosen. */
const leaveForm = (context: ApplicationContext): Markup =>
  form(
    context,
    '/oauth/authorize',
    html`<button name="action" value="leave">Go back to ${context.application}</button>`,
  );

function option(choice: ShownChoice, scopes: readonly string[], checked: boolean): Markup {
  const reason = reasonOf(choice, scopes);
  const id = `builder-${choice.id}`;
  return html`<div class="choice${reason && ' off'}">
<input type="radio" name="builder_id" id="${id}" value="${choice.id}" required${checked && html` checked`}${
    reason && html` disabled`
  }>
<label for="${id}">${badge(choice.name, choice.logoUrl)}<span>
<span class="name">${choice.name}</span>
<span class="detail">${reason ?? roleWords(choice.role)}</span>
</span></label>
</div>`;
}

function reasonOf(choice: ShownChoice, scopes: readonly string[]): string | null {
  if (!isConnected(choice)) return 'Not connected to this application.';
  const refused = scopesRefused(scopes, choice);
  return refused.length > 0 ? `Does not share with this application: ${shortWordsOf(refused)}.` : null;
}

/** `SITE_MANAGER` to `Site manager`. */
function roleWords(role: string): string {
  const words = role.replaceAll('_', ' ').toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
