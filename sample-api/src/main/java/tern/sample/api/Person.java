package tern.sample.api;

import java.io.Serializable;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A nested value.
 *
 * @param addresses by what they are for, such as "home"
 * @param manager null at the top
 */
public record Person(
        String name,
        Role role,
        LocalDate birthday,
        BigDecimal salary,
        List<String> phones,
        Map<String, Address> addresses,
        @Nullable Person manager)
        implements Serializable {

    public enum Role {
        ENGINEER,
        MANAGER
    }

    public record Address(String street, String city, String postcode, String country) implements Serializable {}
}
