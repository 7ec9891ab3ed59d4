package tern.rpc.load.peer;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import tern.sample.api.EchoService;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.User;
import tern.sample.api.UserService;

/** Services that only return fixed values. The values come from Dubbo's published benchmark. */
final class BenchmarkServices implements UserService, EchoService, WorkService {

    private static final LocalDateTime TIME = LocalDateTime.of(2024, 1, 2, 3, 4, 5);

    static User user(long id) {
        User user = new User();
        user.setId(id);
        user.setName("Doug Lea");
        user.setSex(1);
        user.setBirthday(LocalDate.of(1968, 12, 8));
        user.setEmail("dong.lea@gmail.com");
        user.setMobile("18612345678");
        user.setAddress("Beijing, Chaoyang, 7 Guanghua Road, building 3, room 1605");
        user.setIcon("https://www.example.org/pictures/3654812.jpg");
        user.setPermissions(
                new ArrayList<>(List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)));
        user.setStatus(1);
        user.setCreateTime(TIME);
        user.setUpdateTime(TIME);
        return user;
    }

    @Override
    public boolean existUser(String email) {
        return !email.isEmpty();
    }

    @Override
    public boolean createUser(User user) {
        return user.getName().equals("Doug Lea");
    }

    @Override
    public User getUser(long id) {
        return user(id);
    }

    @Override
    public Page<User> listUser(int pageNo) {
        List<User> users = new ArrayList<>(PAGE_SIZE);
        for (int i = 0; i < PAGE_SIZE; i++) {
            users.add(user(i));
        }
        return page(pageNo, users);
    }

    private static Page<User> page(int pageNo, List<User> users) {
        return new Page<>(pageNo, 1_000, users);
    }

    @Override
    public String echo(String text) {
        return text;
    }

    @Override
    public Person echo(Person person) {
        return person;
    }

    @Override
    public String build(int times) {
        String built = "";
        for (int i = 0; i < times; i++) {
            StringBuilder text = new StringBuilder(1_024);
            while (text.length() < 1_024) {
                text.append((char) ('a' + (i + text.length()) % 26));
            }
            built = text.toString();
        }
        return built;
    }
}
