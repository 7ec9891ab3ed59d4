package tern.rpc.load.peer;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.peer.proto.AddressMessage;
import tern.rpc.load.peer.proto.PersonMessage;
import tern.rpc.load.peer.proto.RoleMessage;
import tern.rpc.load.peer.proto.UserMessage;
import tern.rpc.load.peer.proto.UserPage;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.User;

/**
 * Converts the values of the sample services to protobuf messages and back, as in an application with its own value
 * classes. The conversion is measured as part of the call, because frameworks without protobuf need no conversion.
 */
final class Messages {

    private Messages() {}

    static UserMessage message(User user) {
        UserMessage.Builder message = UserMessage.newBuilder()
                .setId(user.getId())
                .setName(user.getName())
                .setSex(user.getSex())
                .setEmail(user.getEmail())
                .setMobile(user.getMobile())
                .setAddress(user.getAddress())
                .setIcon(user.getIcon())
                .addAllPermissions(user.getPermissions())
                .setStatus(user.getStatus());
        LocalDate birthday = user.getBirthday();
        if (birthday != null) {
            message.setBirthday(birthday.toEpochDay());
        }
        LocalDateTime createTime = user.getCreateTime();
        if (createTime != null) {
            message.setCreateTime(createTime.toEpochSecond(ZoneOffset.UTC));
        }
        LocalDateTime updateTime = user.getUpdateTime();
        if (updateTime != null) {
            message.setUpdateTime(updateTime.toEpochSecond(ZoneOffset.UTC));
        }
        return message.build();
    }

    static User user(UserMessage message) {
        User user = new User();
        user.setId(message.getId());
        user.setName(message.getName());
        user.setSex(message.getSex());
        user.setBirthday(message.hasBirthday() ? LocalDate.ofEpochDay(message.getBirthday()) : null);
        user.setEmail(message.getEmail());
        user.setMobile(message.getMobile());
        user.setAddress(message.getAddress());
        user.setIcon(message.getIcon());
        user.setPermissions(new ArrayList<>(message.getPermissionsList()));
        user.setStatus(message.getStatus());
        user.setCreateTime(message.hasCreateTime() ? time(message.getCreateTime()) : null);
        user.setUpdateTime(message.hasUpdateTime() ? time(message.getUpdateTime()) : null);
        return user;
    }

    private static LocalDateTime time(long epochSecond) {
        return LocalDateTime.ofEpochSecond(epochSecond, 0, ZoneOffset.UTC);
    }

    static UserPage message(Page<User> page) {
        UserPage.Builder message =
                UserPage.newBuilder().setPageNo(page.getPageNo()).setTotal(page.getTotal());
        for (User user : page.getResult()) {
            message.addResult(message(user));
        }
        return message.build();
    }

    static Page<User> page(UserPage message) {
        List<User> users = new ArrayList<>(message.getResultCount());
        for (UserMessage user : message.getResultList()) {
            users.add(user(user));
        }
        return new Page<>(message.getPageNo(), message.getTotal(), users);
    }

    static PersonMessage message(Person person) {
        PersonMessage.Builder message = PersonMessage.newBuilder()
                .setName(person.name())
                .setRole(person.role() == Person.Role.MANAGER ? RoleMessage.MANAGER : RoleMessage.ENGINEER)
                .setBirthday(person.birthday().toEpochDay())
                .setSalary(person.salary().toString())
                .addAllPhones(person.phones());
        person.addresses().forEach((kind, address) -> message.putAddresses(kind, message(address)));
        Person manager = person.manager();
        if (manager != null) {
            message.setManager(message(manager));
        }
        return message.build();
    }

    private static AddressMessage message(Person.Address address) {
        return AddressMessage.newBuilder()
                .setStreet(address.street())
                .setCity(address.city())
                .setPostcode(address.postcode())
                .setCountry(address.country())
                .build();
    }

    static Person person(PersonMessage message) {
        Map<String, Person.Address> addresses = new LinkedHashMap<>();
        message.getAddressesMap().forEach((kind, address) -> addresses.put(kind, address(address)));
        @Nullable Person manager = message.hasManager() ? person(message.getManager()) : null;
        return new Person(
                message.getName(),
                message.getRole() == RoleMessage.MANAGER ? Person.Role.MANAGER : Person.Role.ENGINEER,
                LocalDate.ofEpochDay(message.getBirthday()),
                new BigDecimal(message.getSalary()),
                new ArrayList<>(message.getPhonesList()),
                addresses,
                manager);
    }

    private static Person.Address address(AddressMessage message) {
        return new Person.Address(message.getStreet(), message.getCity(), message.getPostcode(), message.getCountry());
    }
}
