package tern.sample.consumer.web;

import static org.hamcrest.Matchers.hasSize;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.sample.api.EchoService;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.ScheduleException;
import tern.sample.api.ScheduleRequest;
import tern.sample.api.ScheduleResult;
import tern.sample.api.ScheduleService;
import tern.sample.api.User;
import tern.sample.api.UserService;

class HttpApiTest {

    private final MockMvc http = MockMvcBuilders.standaloneSetup(
                    new UserController(new OneUser()),
                    new EchoController(new Echo()),
                    new ScheduleController(new NorthOnly()))
            .setControllerAdvice(new CallFailures())
            .build();

    @Test
    void userIsFoundByNumber() throws Exception {
        http.perform(get("/users/1"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.email").value("ada@tern.example"));
    }

    @Test
    void unknownUserIsNotFound() throws Exception {
        http.perform(get("/users/2")).andExpect(status().isNotFound());
    }

    @Test
    void usersComeInPages() throws Exception {
        http.perform(get("/users?page=3"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.pageNo").value(3))
                .andExpect(jsonPath("$.result", hasSize(1)));
    }

    @Test
    void pageZeroIsRefusedWithoutACall() throws Exception {
        http.perform(get("/users?page=0")).andExpect(status().isBadRequest());
    }

    @Test
    void addressIsLookedUp() throws Exception {
        http.perform(get("/users/exists?email=ada@tern.example"))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.exists").value(true));
    }

    @Test
    void newUserIsCreatedOnce() throws Exception {
        http.perform(post("/users").contentType(MediaType.APPLICATION_JSON).content("""
                        {"name": "Bob", "email": "bob@tern.example", "birthday": "1990-01-31"}"""))
                .andExpect(status().isCreated());
        http.perform(post("/users").contentType(MediaType.APPLICATION_JSON).content("""
                        {"name": "Ada", "email": "ada@tern.example"}"""))
                .andExpect(status().isConflict());
    }

    @Test
    void userWithoutAnAddressIsRefused() throws Exception {
        http.perform(post("/users").contentType(MediaType.APPLICATION_JSON).content("""
                        {"name": "Bob", "email": "nobody"}"""))
                .andExpect(status().isBadRequest());
    }

    @Test
    void textAndPersonAreEchoed() throws Exception {
        http.perform(post("/echo").contentType(MediaType.TEXT_PLAIN).content("hello"))
                .andExpect(status().isOk())
                .andExpect(content().string("hello"));
        http.perform(post("/echo").contentType(MediaType.APPLICATION_JSON).content("""
                        {"name": "Ada", "role": "ENGINEER", "birthday": "1990-01-31", "salary": 1.50, "phones": ["1"],
                         "addresses": {"home": {"street": "s", "city": "c", "postcode": "p", "country": "x"}}}"""))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.addresses.home.city").value("c"));
    }

    @Test
    void taskIsScheduled() throws Exception {
        http.perform(post("/schedule").contentType(MediaType.APPLICATION_JSON).content("""
                        {"tenant": "north", "skill": "repair"}"""))
                .andExpect(status().isOk())
                .andExpect(jsonPath("$.agentName").value("Agent 1"));
    }

    @Test
    void declaredExceptionBecomesAProblem() throws Exception {
        http.perform(post("/schedule").contentType(MediaType.APPLICATION_JSON).content("""
                        {"tenant": "refused", "skill": "repair"}"""))
                .andExpect(status().isForbidden())
                .andExpect(jsonPath("$.reason").value("TENANT_REFUSED"));
    }

    @Test
    void failedCallBecomesAProblemWithItsCode() throws Exception {
        http.perform(post("/echo").contentType(MediaType.TEXT_PLAIN).content("fail"))
                .andExpect(status().isServiceUnavailable())
                .andExpect(jsonPath("$.code").value("UNAVAILABLE"))
                .andExpect(jsonPath("$.executed").value("NO"));
    }

    private static final class OneUser implements UserService {

        @Override
        public boolean existUser(String email) {
            return email.equals("ada@tern.example");
        }

        @Override
        public boolean createUser(User user) {
            return !existUser(user.getEmail());
        }

        @Override
        public @Nullable User getUser(long id) {
            return id == 1 ? ada() : null;
        }

        @Override
        public Page<User> listUser(int pageNo) {
            return new Page<>(pageNo, 1, List.of(ada()));
        }

        private static User ada() {
            User user = new User();
            user.setId(1);
            user.setEmail("ada@tern.example");
            return user;
        }
    }

    private static final class Echo implements EchoService {

        @Override
        public String echo(String text) {
            if (text.equals("fail")) {
                throw RpcException.refusal(StatusCode.UNAVAILABLE, "no provider", RpcException.Executed.NO);
            }
            return text;
        }

        @Override
        public Person echo(Person person) {
            return person;
        }
    }

    private static final class NorthOnly implements ScheduleService {

        @Override
        public ScheduleResult schedule(ScheduleRequest request) throws ScheduleException {
            if (!request.tenant().equals("north")) {
                throw new ScheduleException(ScheduleException.Reason.TENANT_REFUSED, "refused");
            }
            return new ScheduleResult(request.requestId(), 1, "Agent 1", 40, 0);
        }
    }
}
