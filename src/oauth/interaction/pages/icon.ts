/** Logo of the service, as SVG. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#17456b"/>
<path d="M8 24V13l8-5 8 5v11M8 24h16M8 17h16M16 8v16" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/>
</svg>
`;
