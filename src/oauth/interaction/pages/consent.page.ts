import type { SignedInUser } from '../sessions.ts';
import { type ClientFormContext, renderPromptForm, renderSignedInUser } from './forms.ts';
import { html, type Markup } from './html.ts';
import { logoOrigins, type Page, renderBadge } from './layout.ts';
import { describeScopes } from './scope-descriptions.ts';
import type { BuilderChoice } from './select-builder.page.ts';

interface ConsentRequest {
  user: SignedInUser;
  choice: BuilderChoice;
  scopes: readonly string[];
  /** Whether its tokens are for the tools of agents. */
  isAssistant: boolean;
  /** Name of the client's integrator. */
  vendor: string | null;
  /** Destination of the redirect, such as `app.example`. */
  destination: string;
  /** Whether the client can refresh its access token. */
  canRefresh: boolean;
  /** Whether the user can select another builder. */
  hasOtherBuilders: boolean;
}

/**
 * Returns the consent page, which lists what the client will be able to read and change, and for which builder. OAU-24.
 */
export function createConsentPage(context: ClientFormContext, request: ConsentRequest): Page {
  const { user, choice, scopes, isAssistant, vendor, destination, canRefresh, hasOtherBuilders } = request;
  const { builderId, builderName, logoUrl } = choice;
  const { clientName } = context;
  const { readable, changeable } = describeScopes(scopes);
  return {
    title: `Allow ${clientName}`,
    images: logoOrigins([logoUrl]),
    content: html`<div class="parties" aria-hidden="true">${renderBadge(clientName, null)}<span class="line"></span>${renderBadge(
      builderName,
      logoUrl,
    )}</div>
<h1>Allow ${clientName} to use the data of ${builderName}?</h1>
<p class="lead">${
      vendor !== null && vendor !== clientName && html`${clientName} is made by <strong>${vendor}</strong>. `
    }It gets access to <strong>${builderName}</strong> only.${
      hasOtherBuilders && ' It gets no access to your other companies.'
    }</p>
${
  isAssistant &&
  html`<p class="lead"><strong>An assistant will act in your name</strong>, with these permissions. What it changes is recorded with your name.</p>`
}
${readable.length > 0 && renderPermissions('It will be able to see', readable, EYE_ICON, '')}
${changeable.length > 0 && renderPermissions('It will be able to make changes', changeable, PENCIL_ICON, ' change')}
<p class="small">${
      canRefresh
        ? 'It keeps this access as long as it uses it at least every 30 days. The access ends when you leave the company, or when the company ends the connection.'
        : 'It keeps this access for one hour.'
    } You can remove it under <a href="/account/applications" target="_blank" rel="noopener">your applications</a> at any time. It never learns
your password.</p>
${renderPromptForm(
  context,
  html`<input type="hidden" name="builder_id" value="${builderId}">
<button name="action" value="allow">Allow</button>
<button name="action" value="deny" class="second">Don’t allow</button>`,
)}
<p class="small">Either way you go back to <strong>${destination}</strong>.</p>
${
  hasOtherBuilders &&
  html`<div class="small">${renderPromptForm(
    context,
    html`<button class="link" name="action" value="other">Choose another company</button>`,
    'inline',
  )}</div>`
}
${renderSignedInUser(context, user)}`,
  };
}

const renderPermissions = (
  heading: string,
  descriptions: readonly string[],
  icon: Markup,
  className: string,
): Markup => html`<section class="permissions${className}">
<h2>${icon}${heading}</h2>
<ul>${descriptions.map((description) => html`<li>${description}</li>`)}</ul>
</section>`;

const EYE_ICON = html`<svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2"
 stroke-linejoin="round"><path d="M2 12s3.6-7 10-7 10 7 10 7-3.6 7-10 7S2 12 2 12z"/><circle cx="12" cy="12" r="3"/></svg>`;

const PENCIL_ICON = html`<svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2"
 stroke-linejoin="round"><path d="M4 20l1-5L16 4l4 4L9 19l-5 1zM13 7l4 4"/></svg>`;
