/** Returns the storage key of a demo builder's logo. */
export const toLogoKey = (builderId: string) => `logos/${builderId}/demo.png`;

/** Every fourth builder has no logo. */
export const hasLogo = (index: number) => index % 4 !== 3;
