import { Instant } from '../../components/facts.tsx';
import { SecretBox } from '../../components/notices.tsx';
import type { CreateUserMutation } from '../../graphql/generated.ts';

export type Link = NonNullable<CreateUserMutation['createUser']>;

/** A one-time link for choosing a password, or that it was sent. */
export const PasswordLinkResult = ({ link }: { link: Link }) => (
  <>
    {!link.url && !link.emailed ? (
      <p className="notice bad" role="alert">
        The mail server did not accept the message. The person is registered: make another link later.
      </p>
    ) : link.url ? (
      <SecretBox
        label="Link for choosing a password. Pass it on by a channel that only the person reads."
        secret={link.url}
      />
    ) : (
      <p className="notice good" role="status">
        The link was sent by e-mail.
      </p>
    )}
    <p className="soft small">
      It works once, until <Instant at={link.expiresAt} />.
    </p>
  </>
);
