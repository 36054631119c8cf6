"""The users of the API: a Cognito user pool whose groups are the roles and the teams."""

from aws_cdk import Aws, Duration, Stack
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from cdk.acknowledge import acknowledge
from cdk.settings import Settings

ROLES = {
    "admin": "Manages every team's jobs",
    "operator": "Submits jobs and manages the jobs of their team",
    "viewer": "Reads every job and execution",
}
# A team is a group named `team:<name>`, whose name `caller.py` checks. Adding one needs no deployment.


class Identity(Construct):
    """An administrator creates users; self sign-up is disabled."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self._settings = settings
        self.pool = cognito.UserPool(
            self,
            "Pool",
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(username=True, email=True),
            sign_in_case_sensitive=False,
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            mfa=cognito.Mfa.OPTIONAL,
            mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False),
            password_policy=cognito.PasswordPolicy(
                min_length=12,
                require_digits=True,
                require_lowercase=True,
                require_uppercase=True,
                require_symbols=True,
                temp_password_validity=Duration.days(3),
            ),
            deletion_protection=settings.deletion_protection,
            removal_policy=settings.removal_policy,
        )
        for role, description in ROLES.items():
            cognito.CfnUserPoolGroup(
                self,
                role.title(),
                user_pool_id=self.pool.user_pool_id,
                group_name=role,
                description=description,
            )
        self.client = self.pool.add_client(
            "Client",
            auth_flows=cognito.AuthFlow(user_srp=True, admin_user_password=True, user_password=settings.is_emulated),
            disable_o_auth=True,
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            access_token_validity=settings.token_validity,
            id_token_validity=settings.token_validity,
            refresh_token_validity=Duration.days(30),
        )
        acknowledge(
            self.pool,
            "AwsSolutions-COG2",
            "MFA is optional: the same pool serves people and the programs that submit jobs, and a program has no "
            "authenticator.",
        )
        acknowledge(
            self.pool,
            "AwsSolutions-COG8",
            "Threat protection is part of the Plus plan, which is priced per user. To get it, change the plan of the "
            "pool.",
        )

        self.sign_in_url = "" if settings.is_emulated else self._add_domain()
        """The address of the sign-in page; empty: the origin of the API."""

    def add_console_client(self, address: str) -> cognito.UserPoolClient:
        """Add the client with which people sign in to the console at ``address``."""
        validity = Duration.minutes(15)
        return self.pool.add_client(
            "ConsoleClient",
            auth_flows=cognito.AuthFlow(),
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(authorization_code_grant=True),
                scopes=[cognito.OAuthScope.OPENID, cognito.OAuthScope.PROFILE],
                callback_urls=[address],
                logout_urls=[address],
            ),
            prevent_user_existence_errors=True,
            enable_token_revocation=True,
            access_token_validity=validity,
            id_token_validity=validity,
            refresh_token_validity=Duration.days(1),
        )

    def _add_domain(self) -> str:
        """Serve the sign-in page on a domain of Cognito, whose prefix is unique in the Region."""
        prefix = self._settings.domain_prefix(Aws.ACCOUNT_ID)
        self.pool.add_domain("Domain", cognito_domain=cognito.CognitoDomainOptions(domain_prefix=prefix))
        return f"https://{prefix}.auth.{Stack.of(self).region}.amazoncognito.com"

    @property
    def issuer(self) -> str:
        """The issuer of the tokens. Built here, because the emulator's CloudFormation lacks the attribute."""
        return f"https://cognito-idp.{Stack.of(self).region}.amazonaws.com/{self.pool.user_pool_id}"
