package tern.rpc.serialization.json;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.DatabindContext;

/**
 * Encodes and decodes dates and times with four-digit years, {@code 2024-01-02} and {@code 2024-01-02T03:04:05.678}
 * (ISO 8601, RFC 3339). The JDK's formatters are not used, because they would take half of the time for decoding an
 * object with three timestamps. Jackson handles all other forms, such as five-digit years.
 */
final class PlainTime {

    /** The length of the longest supported string: {@code 2024-01-02T03:04:05.123456789}. */
    static final int MAX_LENGTH = 29;

    private static final int DATE_LENGTH = 10;
    private static final int MINUTE_LENGTH = 16;
    private static final int SECOND_LENGTH = 19;
    private static final int NONE = -1;
    private static final int MAX_FRACTION_DIGITS = 9;
    private static final int MAX_YEAR = 9_999;

    private PlainTime() {}

    /**
     * Returns whether values of the type are written in the default form. This is the case if neither the property nor
     * the type sets a format.
     */
    static boolean isWanted(DatabindContext context, @Nullable BeanProperty property, Class<?> type) {
        JsonFormat.Value format = property == null
                ? context.getConfig().getDefaultPropertyFormat(type)
                : property.findPropertyFormat(context.getConfig(), type);
        return format == null || format.equals(JsonFormat.Value.empty());
    }

    /** Returns the date; null if the characters have another form or do not represent a valid date. */
    static @Nullable LocalDate date(char[] text, int from, int length) {
        if (length != DATE_LENGTH || text[from + 4] != '-' || text[from + 7] != '-') {
            return null;
        }
        int year = number(text, from, 4);
        int month = number(text, from + 5, 2);
        int day = number(text, from + 8, 2);
        if (year == NONE || month < 1 || month > 12 || day < 1) {
            return null;
        }
        try {
            return LocalDate.of(year, month, day);
        } catch (DateTimeException noSuchDay) {
            return null;
        }
    }

    /**
     * Returns the date and time; null if the text has a different format or is not a valid time. Seconds and fractions
     * of a second are optional.
     */
    static @Nullable LocalDateTime dateTime(char[] text, int from, int length) {
        if (length < MINUTE_LENGTH || length > MAX_LENGTH || text[from + 10] != 'T' || text[from + 13] != ':') {
            return null;
        }
        LocalDate date = date(text, from, DATE_LENGTH);
        int hour = number(text, from + 11, 2);
        int minute = number(text, from + 14, 2);
        int second = second(text, from, length);
        int nano = nano(text, from, length);
        if (date == null || hour == NONE || hour > 23 || minute == NONE || minute > 59) {
            return null;
        }
        return second == NONE || second > 59 || nano == NONE ? null : date.atTime(hour, minute, second, nano);
    }

    private static int second(char[] text, int from, int length) {
        if (length == MINUTE_LENGTH) {
            return 0;
        }
        return length < SECOND_LENGTH || text[from + 16] != ':' ? NONE : number(text, from + 17, 2);
    }

    private static int nano(char[] text, int from, int length) {
        if (length <= SECOND_LENGTH) {
            return 0;
        }
        int digits = length - SECOND_LENGTH - 1;
        int nano = digits == 0 || text[from + SECOND_LENGTH] != '.'
                ? NONE
                : number(text, from + SECOND_LENGTH + 1, digits);
        for (int i = digits; i < MAX_FRACTION_DIGITS && nano > 0; i++) {
            nano *= 10;
        }
        return nano;
    }

    private static int number(char[] text, int from, int digits) {
        int number = 0;
        for (int i = from; i < from + digits; i++) {
            int digit = text[i] - '0';
            if (digit < 0 || digit > 9) {
                return NONE;
            }
            number = number * 10 + digit;
        }
        return number;
    }

    /** Returns whether the date has a year of four digits, so that this class can encode it. */
    static boolean fits(LocalDate date) {
        return date.getYear() >= 0 && date.getYear() <= MAX_YEAR;
    }

    /**
     * Writes the date.
     *
     * @return the number of characters written
     */
    static int write(LocalDate date, char[] text) {
        digits(date.getYear(), text, 0, 4);
        text[4] = '-';
        digits(date.getMonthValue(), text, 5, 2);
        text[7] = '-';
        digits(date.getDayOfMonth(), text, 8, 2);
        return DATE_LENGTH;
    }

    /** Writes the time with seconds and as many fractional digits as needed. */
    static int write(LocalDateTime time, char[] text) {
        write(time.toLocalDate(), text);
        text[10] = 'T';
        digits(time.getHour(), text, 11, 2);
        text[13] = ':';
        digits(time.getMinute(), text, 14, 2);
        text[16] = ':';
        digits(time.getSecond(), text, 17, 2);
        int fraction = time.getNano();
        if (fraction == 0) {
            return SECOND_LENGTH;
        }
        int count = MAX_FRACTION_DIGITS;
        for (; fraction % 10 == 0; fraction /= 10) {
            count--;
        }
        text[SECOND_LENGTH] = '.';
        digits(fraction, text, SECOND_LENGTH + 1, count);
        return SECOND_LENGTH + 1 + count;
    }

    private static void digits(int number, char[] text, int from, int count) {
        int rest = number;
        for (int i = from + count - 1; i >= from; i--) {
            text[i] = (char) ('0' + rest % 10);
            rest /= 10;
        }
    }
}
