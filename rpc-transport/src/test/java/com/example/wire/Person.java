package com.example.wire;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.Date;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A bean that the captured calls use. */
public class Person implements Serializable {

    private static final long serialVersionUID = 1L;

    private @Nullable String name;
    private int age;
    private long id;
    private boolean active;
    private @Nullable Color color;
    private @Nullable List<String> tags;
    private @Nullable BigDecimal balance;
    private @Nullable Date born;
    private @Nullable Person friend;

    public static Person named(String name, int age) {
        Person person = new Person();
        person.name = name;
        person.age = age;
        return person;
    }

    public @Nullable String getName() {
        return name;
    }

    public void setName(@Nullable String name) {
        this.name = name;
    }

    public int getAge() {
        return age;
    }

    public void setAge(int age) {
        this.age = age;
    }

    public long getId() {
        return id;
    }

    public void setId(long id) {
        this.id = id;
    }

    public boolean isActive() {
        return active;
    }

    public void setActive(boolean active) {
        this.active = active;
    }

    public @Nullable Color getColor() {
        return color;
    }

    public void setColor(@Nullable Color color) {
        this.color = color;
    }

    public @Nullable List<String> getTags() {
        return tags;
    }

    public void setTags(@Nullable List<String> tags) {
        this.tags = tags;
    }

    public @Nullable BigDecimal getBalance() {
        return balance;
    }

    public void setBalance(@Nullable BigDecimal balance) {
        this.balance = balance;
    }

    public @Nullable Date getBorn() {
        return born;
    }

    public void setBorn(@Nullable Date born) {
        this.born = born;
    }

    public @Nullable Person getFriend() {
        return friend;
    }

    public void setFriend(@Nullable Person friend) {
        this.friend = friend;
    }

    private long bornMillis() {
        return born == null ? Long.MIN_VALUE : born.getTime();
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Person that
                && age == that.age
                && id == that.id
                && active == that.active
                && color == that.color
                && Objects.equals(name, that.name)
                && Objects.equals(tags, that.tags)
                && Objects.equals(balance, that.balance)
                && bornMillis() == that.bornMillis()
                && Objects.equals(friend, that.friend);
    }

    @Override
    public int hashCode() {
        return Objects.hash(name, age, id);
    }
}
