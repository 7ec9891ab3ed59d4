package tern.rpc.serialization.hessian;

import java.math.RoundingMode;
import java.sql.JDBCType;
import java.text.Normalizer;
import java.text.NumberFormat;
import java.time.DayOfWeek;
import java.time.Month;
import java.time.chrono.HijrahEra;
import java.time.chrono.IsoEra;
import java.time.chrono.MinguoEra;
import java.time.chrono.ThaiBuddhistEra;
import java.time.format.FormatStyle;
import java.time.format.ResolverStyle;
import java.time.format.SignStyle;
import java.time.format.TextStyle;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The JDK enums whose constants represent plain data. These enums may be read where no enum is declared, for example as
 * a value of a {@code Map<String, Object>}. Other JDK enums must be declared. Immutable.
 */
final class JdkEnums {

    private static final Map<String, Class<?>> BY_NAME = Stream.<Class<?>>of(
                    ChronoField.class,
                    ChronoUnit.class,
                    DayOfWeek.class,
                    FormatStyle.class,
                    HijrahEra.class,
                    IsoEra.class,
                    JDBCType.class,
                    Locale.Category.class,
                    Locale.FilteringMode.class,
                    Locale.IsoCountryCode.class,
                    MinguoEra.class,
                    Month.class,
                    Normalizer.Form.class,
                    NumberFormat.Style.class,
                    ResolverStyle.class,
                    RoundingMode.class,
                    SignStyle.class,
                    System.Logger.Level.class,
                    TextStyle.class,
                    ThaiBuddhistEra.class,
                    Thread.State.class,
                    TimeUnit.class)
            .collect(Collectors.toUnmodifiableMap(Class::getName, Function.identity()));

    private JdkEnums() {}

    /** Returns the enum with the given class name; null if there is no such enum, or if its constants do not represent
     * plain data. */
    static @Nullable Class<?> find(String name) {
        return BY_NAME.get(name);
    }
}
