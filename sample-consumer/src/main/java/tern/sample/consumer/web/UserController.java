package tern.sample.consumer.web;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Email;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import tern.rpc.spring.RpcReference;
import tern.sample.api.Page;
import tern.sample.api.User;
import tern.sample.api.UserService;

@RestController
@RequestMapping("/users")
class UserController {

    private final UserService users;

    UserController(@RpcReference UserService users) {
        this.users = users;
    }

    /** The fields of a new user that the client sets. */
    record NewUser(
            @NotBlank String name,
            @NotBlank @Email String email,
            @Nullable Integer sex,
            @Nullable LocalDate birthday,
            @Nullable String mobile,
            @Nullable String address,
            @Nullable List<Integer> permissions) {

        User toUser() {
            User user = new User();
            user.setName(name);
            user.setEmail(email);
            user.setSex(sex == null ? 0 : sex);
            user.setBirthday(birthday);
            user.setMobile(mobile == null ? "" : mobile);
            user.setAddress(address == null ? "" : address);
            user.setPermissions(permissions == null ? List.of() : permissions);
            user.setStatus(1);
            return user;
        }
    }

    @GetMapping("/{id}")
    ResponseEntity<User> get(@PathVariable long id) {
        return ResponseEntity.ofNullable(users.getUser(id));
    }

    @GetMapping
    Page<User> list(@RequestParam(defaultValue = "1") @Min(1) int page) {
        return users.listUser(page);
    }

    @GetMapping("/exists")
    Map<String, Boolean> exists(@RequestParam String email) {
        return Map.of("exists", users.existUser(email));
    }

    @PostMapping
    ResponseEntity<Map<String, Boolean>> create(@Valid @RequestBody NewUser user) {
        boolean created = users.createUser(user.toUser());
        return ResponseEntity.status(created ? HttpStatus.CREATED : HttpStatus.CONFLICT)
                .body(Map.of("created", created));
    }
}
