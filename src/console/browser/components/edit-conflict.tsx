/** A notice that another person changed the record first. @param present What is stored now, in words. */
export const EditConflict = ({ present }: { present?: string }) => (
  <p className="notice warn" role="alert">
    Somebody else changed this in the meantime. Your change was not saved: look at the present state and decide again.
    {present && ` Now: ${present}.`}
  </p>
);
