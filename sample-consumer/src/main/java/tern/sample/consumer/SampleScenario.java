package tern.sample.consumer;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.springframework.stereotype.Component;
import tern.rpc.load.Scenario;
import tern.rpc.spring.RpcReference;
import tern.sample.api.EchoService;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.Person.Address;
import tern.sample.api.ScheduleRequest;
import tern.sample.api.ScheduleResult;
import tern.sample.api.ScheduleService;
import tern.sample.api.User;
import tern.sample.api.UserService;

/**
 * The mix of calls in the demo. Most calls are short reads, one in ten writes a row, and one in ten is the expensive
 * {@code schedule}. Every answer is checked.
 */
@Component
class SampleScenario {

    /** The kinds of calls that a load run makes. */
    enum Kind {
        /** Makes calls of all kinds, chosen at random according to their weights. */
        MIX,
        /** Makes only calls to {@code schedule}. */
        SCHEDULE
    }

    private static final int KNOWN_USERS = 1_000;
    private static final int FULL_PAGES = KNOWN_USERS / UserService.PAGE_SIZE;
    private static final int CANDIDATES = 40;
    private static final List<String> SKILLS = List.of("billing", "repair", "sales");
    private static final String TEXT = "tern ".repeat(200);

    private final UserService users;
    private final EchoService echo;
    private final ScheduleService schedule;

    SampleScenario(
            @RpcReference UserService users, @RpcReference EchoService echo, @RpcReference ScheduleService schedule) {
        this.users = users;
        this.echo = echo;
        this.schedule = schedule;
    }

    /**
     * Creates the calls for a load run.
     *
     * @param run a string that makes the written rows unique to this run
     */
    Scenario create(Kind kind, String run) {
        return kind == Kind.MIX ? mix(run) : scheduleAlone(run);
    }

    private Scenario scheduleAlone(String run) {
        return Scenario.builder()
                .step("ScheduleService.schedule", 1, number -> schedule(run, number))
                .build();
    }

    private Scenario mix(String run) {
        Person person = person();
        return Scenario.builder()
                .step("UserService.existUser", 30, this::existUser)
                .step("UserService.getUser", 25, this::getUser)
                .step("UserService.listUser", 15, this::listUser)
                .step("UserService.createUser", 10, number -> createUser(run, number))
                .step("EchoService.echo(String)", 5, number -> expect(TEXT.equals(echo.echo(TEXT)), "another text"))
                .step(
                        "EchoService.echo(Person)",
                        5,
                        number -> expect(person.equals(echo.echo(person)), "another person"))
                .step("ScheduleService.schedule", 10, number -> schedule(run, number))
                .build();
    }

    private void existUser(long number) {
        long id = number % (2 * KNOWN_USERS) + 1;
        expect(users.existUser(email(id)) == id <= KNOWN_USERS, "wrong existence of " + email(id));
    }

    private void getUser(long number) {
        long id = number % KNOWN_USERS + 1;
        User user = users.getUser(id);
        expect(user != null && user.getId() == id && user.getEmail().equals(email(id)), "not user " + id);
    }

    private void listUser(long number) {
        int pageNo = (int) (number % FULL_PAGES) + 1;
        Page<User> page = users.listUser(pageNo);
        expect(page.getPageNo() == pageNo && page.getResult().size() == UserService.PAGE_SIZE, "not page " + pageNo);
    }

    private void createUser(String run, long number) {
        User user = new User();
        user.setName("Load " + number);
        user.setSex(1);
        user.setBirthday(LocalDate.of(1990, 1, 1));
        user.setEmail(run + "-" + number + "@load.example");
        user.setMobile("+49 170 0000000");
        user.setAddress("1 Coast Road, Tern Harbour");
        user.setIcon("https://tern.example/icons/load.png");
        user.setPermissions(List.of(1, 2, 3, 5, 8));
        user.setStatus(1);
        expect(users.createUser(user), user.getEmail() + " was there already");
    }

    private void schedule(String run, long number) throws Exception {
        ScheduleRequest request = new ScheduleRequest(
                run + "-" + number, number % 2 == 0 ? "north" : "south", SKILLS.get((int) (number % SKILLS.size())));
        ScheduleResult result = schedule.schedule(request);
        expect(
                result.requestId().equals(request.requestId()) && result.candidates() == CANDIDATES,
                "not the result of " + request.requestId());
    }

    private static void expect(boolean right, String wrong) {
        if (!right) {
            throw new WrongAnswerException(wrong);
        }
    }

    private static String email(long id) {
        return "user" + id + "@tern.example";
    }

    private static Person person() {
        Address home = new Address("1 Coast Road", "Tern Harbour", "12345", "DE");
        Address work = new Address("2 Dock Street", "Tern Harbour", "12346", "DE");
        Person manager = new Person(
                "Grace",
                Person.Role.MANAGER,
                LocalDate.of(1970, 2, 3),
                new BigDecimal("9000.50"),
                List.of("+49 30 1"),
                Map.of("work", work),
                null);
        return new Person(
                "Ada",
                Person.Role.ENGINEER,
                LocalDate.of(1990, 4, 5),
                new BigDecimal("7000.25"),
                List.of("+49 30 2", "+49 170 2"),
                Map.of("home", home, "work", work),
                manager);
    }

    /** Thrown when a call succeeds but its answer does not match the request. */
    static final class WrongAnswerException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        WrongAnswerException(String message) {
            super(message);
        }
    }
}
