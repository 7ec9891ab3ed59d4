package tern.sample.api;

import java.io.Serializable;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A value that contains other values.
 *
 * @param addresses the addresses by purpose, such as "home"
 * @param manager the manager; null for the head of the company
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
