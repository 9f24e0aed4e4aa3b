/** Says that another person changed the record first. */
export const Overtaken = () => (
  <p className="notice warn" role="alert">
    Somebody else changed this in the meantime. Your change was not saved: look at the present state and decide again.
  </p>
);
