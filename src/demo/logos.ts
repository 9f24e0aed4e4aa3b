/** Key of a demo builder's logo in the storage. */
export const logoKeyOf = (builderId: string) => `logos/${builderId}/demo.png`;

/** Whether the builder at that place has a logo: every fourth one has none, as a builder without a configured logo. */
export const hasLogo = (place: number) => place % 4 !== 3;
