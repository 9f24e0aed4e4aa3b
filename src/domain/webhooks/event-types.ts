/** Whether there are events of the type, such as `timesheet.updated`. */
export const isEventType = (type: string): boolean =>
  /^[a-z]+(_[a-z]+)*\.(created|updated|archived|restored)$/.test(type);
