/** Signing in. */
const en = {
  title: 'Sign in',
  intro: 'Sign in with your API key. It is checked and not kept in the browser.',
  key: 'API key',
  submit: 'Sign in',
  wrong: 'This is not a valid API key.',
  empty: 'Enter your API key.',
  slowed: (seconds: number) => `Too many wrong keys came from here. Wait ${seconds} s, then try again.`,
  foreign: 'This form came from another address. Open the page again and sign in here.',
};

const ar: typeof en = {
  title: 'تسجيل الدخول',
  intro: 'سجّل الدخول بمفتاح API الخاص بك. يُتحقق منه ولا يُحفظ في المتصفح.',
  key: 'مفتاح API',
  submit: 'تسجيل الدخول',
  wrong: 'مفتاح API هذا غير صالح.',
  empty: 'أدخل مفتاح API الخاص بك.',
  slowed: (seconds) => `وردت مفاتيح خاطئة كثيرة من هنا. انتظر ${seconds} ث ثم حاول مرة أخرى.`,
  foreign: 'ورد هذا النموذج من عنوان آخر. افتح الصفحة مرة أخرى وسجّل الدخول هنا.',
};

export const signIn = { en, ar };
