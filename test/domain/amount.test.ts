import { plainAmount } from '../../src/domain/amount';

test.each([
  ['1,150.00', '1150.00'],
  ['12,345,678.9', '12345678.9'],
  ['-1,150', '-1150'],
  [' 345.00 ', '345.00'],
  ['345', '345'],
  ['٣٤٥', '345'],
  ['١٬١٥٠٫٧٥', '1150.75'],
  ['۱۱۵۰', '1150'],
])('plainAmount reads %j as %j', (text, plain) => {
  expect(plainAmount(text)).toBe(plain);
});

test.each(['', ' ', 'free', '12,50', '1,1500', '1,150,00', '1.150,00', '1e3', '12.50 SAR', '0x10', '--1', '.5', '5.'])(
  'plainAmount does not guess the amount in %j',
  (text) => {
    expect(plainAmount(text)).toBeNull();
  },
);
