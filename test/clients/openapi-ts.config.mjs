export default {
  input: process.env.OPENAPI ?? '../../schema/openapi.json',
  output: { path: './sdk', module: { extension: '.ts' } },
  plugins: ['@hey-api/client-fetch'],
  logs: { level: 'error', file: false },
};
