export const FIRST_NAMES =
  `Aaron Abigail Adrian Ahmed Aisha Alana Alexander Amelia Ana Andrew Angela Anh Arjun Ava Ben Bianca Bilal Brendan
Caitlin Callum Carlos Charlotte Chen Chloe Claire Connor Daniel Darcy David Deepak Dimitri Elena Eleni Elliot Emily Emma Ethan Fatima
Finn Fiona Gabriel Georgia Giorgio Grace Hamish Hannah Harpreet Harry Hassan Hoang Imogen Isaac Isla Jack Jacinta Jade James Jarrod
Jasmine Jessica Jia Joel Jordan Joshua Kai Kate Kiran Kylie Lachlan Lara Leila Leo Liam Lily Linh Luca Lucy Luke Madeleine Malia
Marcus Maria Mateo Matilda Matthew Megan Mei Mia Michael Mitchell Mohammed Nadia Natalie Nathan Niamh Nikhil Noah Olivia Omar Oscar
Patrick Paul Peter Phoebe Priya Quinn Rachel Rahul Rebecca Reuben Riley Rohan Rosa Ruby Ryan Sam Samantha Samuel Sanjay Sarah Scott
Sean Sefina Shane Shauna Sione Sofia Stefan Stella Stephanie Steven Tahlia Talia Tama Tara Thomas Tiana Tim Toby Tyler Uma Vanessa
Victor Vikram Wei William Xavier Yasmin Yusuf Zac Zara Zoe`.split(/\s+/);

export const LAST_NAMES =
  `Abbott Ahmed Anderson Andrews Armstrong Bailey Baker Barker Barnes Bennett Bianchi Brennan Brooks Brown Burns
Campbell Carter Chan Chandra Chen Clarke Collins Conti Cooper Costa Cox Crawford Cruz Davies Dawson Delaney Dixon Doherty Doyle Duffy
Edwards Elliott Evans Faleafa Ferguson Fernandez Fisher Fitzgerald Fletcher Foster Fraser Gallagher Garcia Georgiou Gibson Gill Gomez
Gordon Graham Grant Gray Green Griffiths Gupta Hall Hamilton Harris Harvey Hassan Hayes Henderson Hill Hoang Holmes Hughes Hunter Hussain
Iyer Jackson Jenkins Johnston Jones Kaur Kelly Kennedy Khan King Kowalski Kumar Lam Lawson Le Lee Lewis Li Lim Lopez Ma MacDonald Malik
Mancini Marshall Martin Mason McCarthy McKenna McLean Mehta Mitchell Moore Morgan Morris Murphy Murray Nair Nguyen Novak Owens
Palmer Papadopoulos Park Parker Patel Perera Petrov Pham Phillips Powell Price Quinn Rahman Rana Reid Reynolds Richards Roberts Robinson
Rossi Russell Ryan Saunders Schmidt Scott Sharma Shaw Simpson Singh Smith Stewart Sullivan Tait Tanaka Taylor Thompson Tran Tuilagi
Turner Vella Walker Wallace Walsh Wang Ward Watson Webb White Williams Wilson Wong Wood Wright Wu Yang Young Zhang Zhou`.split(
    /\s+/,
  );

/** Roles of users in a builder's account. */
export const ROLES = ['ADMIN', 'PROJECT_MANAGER', 'SITE_MANAGER', 'SAFETY_MANAGER', 'FOREMAN', 'ESTIMATOR'] as const;

export const INDUCTION_QUESTIONS = [
  { name: 'Emergency contact', type: 'text' },
  { name: 'Emergency phone', type: 'phone' },
  { name: 'High-risk work licence', type: 'text' },
  { name: 'Medical conditions that first aiders should know of', type: 'textarea' },
  { name: 'I have read the site rules', type: 'checkbox' },
] as const;
