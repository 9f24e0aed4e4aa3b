import { listSigningSecrets } from '../endpoints.ts';
import type { SecretBox } from '../secret-box.ts';
import type { LeasedEndpoint } from './leases.ts';

/** The secrets that sign the deliveries of one endpoint. */
export class SigningSecrets {
  readonly #box: SecretBox;
  #decrypted: { key: string; values: string[] } | null = null;

  constructor(box: SecretBox) {
    this.#box = box;
  }

  /** Returns the secrets that sign now. They are decrypted when they change. Throws for one whose key is not configured any more. */
  decrypt(endpoint: LeasedEndpoint, now: number): string[] {
    const stored = listSigningSecrets(endpoint, now);
    const key = stored.join();
    if (this.#decrypted?.key !== key) {
      this.#decrypted = { key, values: stored.map((text) => this.#box.decrypt(text, endpoint.id)) };
    }
    return this.#decrypted.values;
  }
}
